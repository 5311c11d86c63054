// The form for a new task: the prompt and the agent.
import {useState} from "preact/hooks";
import {api} from "../api/client";
import type {Runner} from "../api/types";
import {formOf, kEmptyForm, requestOf, type Form} from "../model/request_form";
import {createTask, failureWords} from "../state/commands";
import {useDraft} from "../state/drafts";
import {tasks} from "../state/fleet";
import {useResource} from "../state/resource";
import {go, params} from "../state/route";
import {mayCommand} from "../state/session";
import {Notice} from "../parts/notice";
import {Exact} from "../parts/text";

const kAlso: Record<string, string> = {allowedTools: "allowed tools", command: "command", maxTurns: "maximum number of turns", timeout: "time limit", labels: "labels"};
const kCommand = "text";  // runs a command, which this form does not ask for
const named = (names: string[]) => [...new Set(names)].filter((name) => name && name !== kCommand).sort();

// The agents of the runners that are connected; null while that is not known.
function useOffered(): string[] | null {
  const {value} = useResource("runners", (signal) => api.get<Runner[]>("/runners", {}, signal)).state.value;
  return value ? named(value.flatMap((runner) => runner.agents)) : null;
}

// Shows before the start where the task will work and whether a runner will take it.
function Where({form, offered}: {form: Form; offered: string[] | null}) {
  return (
    <div class="where" role="status">
      {form.agent && !form.repo && <p>No repository: the agent works in an empty directory. To work on files of yours, name a repository here, or use <code>shepherd run</code> in their directory.</p>}
      {!form.agent && <p>No agent: the task waits for another program to post its events.</p>}
      {form.agent && offered?.length === 0 && <p>No runner with an agent is connected: the task waits until one takes it. <code>shepherd runner</code> starts one.</p>}
      {form.agent && offered !== null && offered.length > 0 && !offered.includes(form.agent) && <p>No runner that is connected has the agent <code><Exact text={form.agent} /></code>: the task waits until one takes it.</p>}
    </div>
  );
}

export function NewTask() {
  // Another task whose request is filled in.
  const like = params.value.get("like") ?? "";
  const earlier = useResource(like || null, async (signal) => formOf(await api.task(like, undefined, signal))).state.value;
  const [form, setForm] = useDraft<Form>(like ? `new task like ${like}` : "new task", (like && earlier.value) || kEmptyForm);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const offered = useOffered();
  if (!mayCommand()) return <Notice title="Your token can read, but not start tasks" />;
  if (like && !earlier.value && !earlier.error) return <Notice heading title="Reading the request …" busy />;
  const also = Object.keys(form.also).map((name) => kAlso[name] ?? name);
  const field = (name: Exclude<keyof Form, "also">, label: string, hint: string, type = "text") => (
    <label class="field"><span>{label}</span>
      <input type={type} value={form[name]} placeholder={hint} min={type === "number" ? 0 : undefined} step={type === "number" ? "0.01" : undefined}
             onInput={(input) => setForm({...form, [name]: input.currentTarget.value})} /></label>
  );
  async function create(submit: Event): Promise<void> {
    submit.preventDefault();
    setBusy(true);
    try {
      const {id} = await createTask(requestOf(form));
      setForm((like && earlier.value) || kEmptyForm);
      go({task: id});
    } catch (failure) {
      setError(failureWords(failure));
      setBusy(false);
    }
  }
  return (
    <form class="new-task" onSubmit={(submit) => void create(submit)}>
      <h1>New task</h1>
      <label class="field"><span>Prompt</span>
        <textarea rows={7} required autofocus value={form.prompt} onInput={(input) => setForm({...form, prompt: input.currentTarget.value})}
                  onKeyDown={(press) => { if (press.key === "Enter" && (press.ctrlKey || press.metaKey)) void create(press); }} /></label>
      <div class="fields">
        {field("title", "Title", "its first line")}
        <label class="field"><span>Agent</span>
          <input list="agents" value={form.agent} placeholder="none: post its events yourself" onInput={(input) => setForm({...form, agent: input.currentTarget.value})} />
          <datalist id="agents">{(offered?.length ? offered : named(["claude", ...tasks.value.map((task) => task.agent || "")])).map((name) => <option key={name} value={name} />)}</datalist></label>
        {field("model", "Model", "the agent's own choice")}
        <label class="field"><span>Mode</span>
          <select value={form.mode} onChange={(input) => setForm({...form, mode: input.currentTarget.value})}>
            <option value="interactive">asks before it acts</option><option value="autonomous">decides by itself</option></select></label>
        {field("repo", "Repository", "https://… (optional)")}
        {field("ref", "Branch or commit", "its default")}
        {field("budget", "Budget in US dollars", "no limit", "number")}
      </div>
      {earlier.error && <p class="bad" role="alert">The request of the earlier task could not be read: {earlier.error}</p>}
      {also.length > 0 && <p class="quiet">Also as in the earlier task: {also.join(", ")}.</p>}
      <Where form={form} offered={offered} />
      <div class="actions"><button class="primary-neutral" disabled={busy || !form.prompt}>Start</button><span class="quiet">or press Ctrl+Enter</span>{error && <span class="bad" role="alert">{error}</span>}</div>
    </form>
  );
}
