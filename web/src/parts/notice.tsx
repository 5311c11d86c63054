// Empty, loading and failed, all in one place and of one look.
import type {ComponentChildren} from "preact";

export function Notice({title, children, busy}: {title: string; children?: ComponentChildren; busy?: boolean}) {
  return (
    <div class="notice" role="status" aria-busy={busy}>
      <p class="notice-title">{title}</p>
      {children && <div>{children}</div>}
    </div>
  );
}
