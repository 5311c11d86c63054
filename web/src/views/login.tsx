// Explains how to get a session.
import {startError} from "../state/session";

export function Login() {
  return (
    <main class="login">
      <h1>Shepherd</h1>
      <p>You are not logged in here. Make a login link on the machine that runs Shepherd and open it in this browser:</p>
      <pre>shepherd token login-link</pre>
      <p class="quiet"><code>shepherd serve</code> prints one when it starts, too.</p>
      <p>Or, if you have a token: <a href="/login">paste it</a>.</p>
    </main>
  );
}

export function CannotStart() {
  return (
    <main class="login">
      <h1>Shepherd</h1>
      <p>{startError.value}</p>
      <button type="button" onClick={() => location.reload()}>Try again</button>
    </main>
  );
}
