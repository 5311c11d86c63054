// The keys that work in the current view.
import {useEffect, useRef} from "preact/hooks";
import {keyNames} from "../model/key_names";
import {allKeys, helpOpen, keysOn, turnKeys} from "../state/keys";

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
          <div key={key.key}><dt>{keyNames(key.key).map((each) => <kbd key={each}>{each}</kbd>)}</dt><dd>{key.does}</dd></div>))}
      </dl>
      <p><label class="check"><input type="checkbox" checked={keysOn.value} onChange={() => turnKeys(!keysOn.value)} /><span>Use these keys</span></label></p>
      <button type="button" onClick={() => { helpOpen.value = false; }}>Close</button>
    </dialog>
  );
}
