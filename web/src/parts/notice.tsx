// The notices for empty, loading and failed, in one look.
import type {ComponentChildren} from "preact";

// `heading` makes the title a heading, for screens that have no other.
export function Notice({title, children, busy, heading}: {title: string; children?: ComponentChildren; busy?: boolean; heading?: boolean}) {
  return (
    <div class="notice" role="status" aria-busy={busy}>
      {heading ? <h1 class="notice-title">{title}</h1> : <p class="notice-title">{title}</p>}
      {children && <div>{children}</div>}
    </div>
  );
}

// What could not be read, why, and a way to try again.
export function Failed({title, why, again}: {title: string; why: string; again: () => void}) {
  return <Notice title={title}><p role="alert">{why}</p><p class="actions"><button type="button" onClick={again}>Try again</button></p></Notice>;
}
