// Contains a rendering failure so that the rest of the page survives. It reports the failure and shows the raw record.
import {Component, type ComponentChildren} from "preact";
import {exactText} from "../model/hidden";
import {excerpt} from "../model/excerpt";

interface GuardProps {
  what: string;      // "event", "view"
  record?: unknown;  // the value that it failed to show
  children: ComponentChildren;
}

const kMostRows = 60;

function textOfRecord(record: unknown): string {
  try {
    const part = excerpt(JSON.stringify(record, null, 2) ?? "", kMostRows);
    return exactText(part.text) + (part.whole ? "" : "\n…");
  } catch {
    return "";
  }
}

export class Guard extends Component<GuardProps, {error: string}> {
  override state = {error: ""};

  static override getDerivedStateFromError(error: unknown) {
    return {error: (error instanceof Error && error.message) || String(error)};
  }

  override componentDidCatch(error: unknown): void {
    console.warn(`a ${this.props.what} could not be shown`, error);
  }

  // Another record may render.
  override componentDidUpdate(before: GuardProps): void {
    if (this.state.error && before.record !== this.props.record) this.setState({error: ""});
  }

  override render() {
    const {what, record, children} = this.props;
    const {error} = this.state;
    if (!error) return children;
    return (
      <div class="unshown" role="note">
        <p>This {what} could not be shown. <span class="quiet">{exactText(error)}</span></p>
        {record !== undefined && <details><summary>its record</summary><pre class="raw">{textOfRecord(record)}</pre></details>}
      </div>
    );
  }
}
