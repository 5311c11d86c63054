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
