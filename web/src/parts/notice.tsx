// Empty, loading and failed, all in one place and of one look.
import type {ComponentChildren} from "preact";

// `heading`: nothing else on the screen says what it is.
export function Notice({title, children, busy, heading}: {title: string; children?: ComponentChildren; busy?: boolean; heading?: boolean}) {
  return (
    <div class="notice" role="status" aria-busy={busy}>
      {heading ? <h1 class="notice-title">{title}</h1> : <p class="notice-title">{title}</p>}
      {children && <div>{children}</div>}
    </div>
  );
}
