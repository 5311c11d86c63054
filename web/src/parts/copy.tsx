// Copies a text. Where the browser gives no clipboard (a page without TLS from another machine), it says so.
import {useEffect, useState} from "preact/hooks";

const kSaidMs = 2000;

export function CopyButton({text, name = "Copy"}: {text: () => string | Promise<string>; name?: string}) {
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(""), kSaidMs);
    return () => clearTimeout(timer);
  }, [said]);
  async function copy(): Promise<void> {
    try {
      await navigator.clipboard.writeText(await text());
      setSaid("Copied");
    } catch {
      setSaid("Not copied: select it and press Ctrl+C");
    }
  }
  return <button type="button" class="act" onClick={() => void copy()}><span aria-live="polite">{said || name}</span></button>;
}
