// A new task: what to do, and who is to do it.
import {useState} from "preact/hooks";
import {api} from "../api/client";
import type {TaskRequest} from "../api/types";
import {go} from "../state/route";
import {mayCommand} from "../state/session";
import {Notice} from "../parts/notice";

interface Form {
  prompt: string;
  title: string;
  agent: string;
  model: string;
  mode: string;
  repo: string;
  ref: string;
  budget: string;
}

function requestOf(form: Form): TaskRequest {
  return {
    prompt: form.prompt,
    ...(form.title && {title: form.title}), ...(form.agent && {agent: form.agent}), ...(form.model && {model: form.model}),
    ...(form.mode && {mode: form.mode}), ...(form.repo && {repo: {url: form.repo, ref: form.ref}}),
    ...(form.budget && {budget: Number(form.budget)}),
  };
}

export function NewTask() {
  const [form, setForm] = useState<Form>({prompt: "", title: "", agent: "claude", model: "", mode: "interactive", repo: "", ref: "", budget: ""});
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  if (!mayCommand()) return <Notice title="Your token may look, but not start tasks" />;
  const field = (name: keyof Form, label: string, hint: string, type = "text") => (
    <label class="field"><span>{label}</span>
      <input type={type} value={form[name]} placeholder={hint} min={type === "number" ? 0 : undefined} step={type === "number" ? "0.01" : undefined}
             onInput={(input) => setForm({...form, [name]: input.currentTarget.value})} /></label>
  );
  async function create(submit: Event): Promise<void> {
    submit.preventDefault();
    setBusy(true);
    try {
      go({task: (await api.createTask(requestOf(form))).id});
    } catch (failure) {
      setError((failure as Error).message);
      setBusy(false);
    }
  }
  return (
    <form class="new-task" onSubmit={(submit) => void create(submit)}>
      <h1>New task</h1>
      <label class="field"><span>What is to be done</span>
        <textarea rows={7} required autofocus value={form.prompt} onInput={(input) => setForm({...form, prompt: input.currentTarget.value})}
                  onKeyDown={(press) => { if (press.key === "Enter" && (press.ctrlKey || press.metaKey)) void create(press); }} /></label>
      <div class="fields">
        {field("title", "Title", "its first line")}
        <label class="field"><span>Agent</span>
          <input list="agents" value={form.agent} placeholder="none: somebody posts its events" onInput={(input) => setForm({...form, agent: input.currentTarget.value})} />
          <datalist id="agents"><option value="claude" /></datalist></label>
        {field("model", "Model", "the agent's own choice")}
        <label class="field"><span>Mode</span>
          <select value={form.mode} onChange={(input) => setForm({...form, mode: input.currentTarget.value})}>
            <option value="interactive">asks before it acts</option><option value="autonomous">decides by itself</option></select></label>
        {field("repo", "Repository", "https://… (optional)")}
        {field("ref", "Branch or commit", "its default")}
        {field("budget", "Budget in US dollars", "no limit", "number")}
      </div>
      <div class="actions"><button class="primary-neutral" disabled={busy || !form.prompt}>Start</button><span class="quiet">Ctrl+Enter starts it, too</span>{error && <span class="bad" role="alert">{error}</span>}</div>
    </form>
  );
}
