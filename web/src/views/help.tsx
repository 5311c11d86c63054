// The keys that work in the current view.
import {useEffect, useRef} from "preact/hooks";
import {allKeys, helpOpen} from "../state/keys";

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => { helpOpen.value = false; }}>
      <h2 id="help-title">Keys</h2>
      <dl class="keys">
        {open && allKeys().map((key) => (
          <div key={key.key}><dt>{key.key.split(" ").map((each) => <kbd key={each}>{each === "" ? "space" : each}</kbd>)}</dt><dd>{key.does}</dd></div>))}
      </dl>
      <button type="button" onClick={() => { helpOpen.value = false; }}>Close</button>
    </dialog>
  );
}
