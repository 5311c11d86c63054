// The form for a new task: the prompt and the agent.
import {useEffect, useState} from "preact/hooks";
import {api} from "../api/client";
import type {Runner, TaskRequest} from "../api/types";
import {createTask, failureWords} from "../state/commands";
import {useDraft} from "../state/drafts";
import {tasks} from "../state/fleet";
import {go} from "../state/route";
import {mayCommand} from "../state/session";
import {Notice} from "../parts/notice";
import {Exact} from "../parts/text";

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

const kEmpty: Form = {prompt: "", title: "", agent: "claude", model: "", mode: "interactive", repo: "", ref: "", budget: ""};

const kCommand = "text";  // runs a command, which this form does not ask for
const named = (names: string[]) => [...new Set(names)].filter((name) => name && name !== kCommand).sort();

// The agents of the runners that are connected; null while that is not known.
function useOffered(): string[] | null {
  const [offered, setOffered] = useState<string[] | null>(null);
  useEffect(() => {
    api.get<Runner[]>("/runners").then((runners) => setOffered(named(runners.flatMap((runner) => runner.agents))), () => setOffered(null));
  }, []);
  return offered;
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
  const [form, setForm] = useDraft<Form>("new task", kEmpty);
  const [error, setError] = useState("");
  const [busy, setBusy] = useState(false);
  const offered = useOffered();
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
      const {id} = await createTask(requestOf(form));
      setForm(kEmpty);
      go({task: id});
    } catch (failure) {
      setError(failureWords(failure));
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
      <Where form={form} offered={offered} />
      <div class="actions"><button class="primary-neutral" disabled={busy || !form.prompt}>Start</button><span class="quiet">or press Ctrl+Enter</span>{error && <span class="bad" role="alert">{error}</span>}</div>
    </form>
  );
}
