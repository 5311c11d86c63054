// A list of any length that renders only its visible rows. Rows may have any height. The row at the upper edge stays in
// place when others change (a page loads above, a card opens), and at the end the list follows new rows: it never jumps
// by itself.
import {Component, createRef, type ComponentChildren} from "preact";
import {Heights} from "./heights";

export interface ListProps {
  count: number;
  guess: number;                                   // height of a row that was never rendered
  label: string;
  row(index: number): ComponentChildren | null;    // null if the row takes no space
  keyOf(index: number): string | number;
  follow?: boolean;                                // starts at the end and stays there
  onRange?(first: number, last: number): void;     // the visible rows
  onFollow?(follows: boolean): void;
  role?: "list" | "feed";
  start?: Place | undefined;                       // where it was when it was last viewed
  onPlace?(place: Place | undefined): void;        // its place when it is removed; undefined at the top
  isHeld?(): boolean;                              // a person is about to act on a row, so nothing moves
}

// A row and its distance above the upper edge. Keys identify rows, because their indexes change.
export interface Place {
  key: string | number;
  offset: number;
}

interface ListState {
  top: number;
  height: number;
}

const kBeyond = 400;  // pixels rendered beyond the visible part
const kAtEnd = 24;

export class VirtualList extends Component<ListProps, ListState> {
  override state: ListState = {top: 0, height: 600};
  #scroller = createRef<HTMLDivElement>();
  #heights: Heights;
  #anchor: {index: number; offset: number; key: string | number | undefined} = {index: 0, offset: 0, key: undefined};
  #following: boolean;
  #observer: ResizeObserver | null = null;
  #rows = new Map<Element, number>();
  #seen = {first: -1, last: -1};
  #place = 0;  // where the list was at the last check or move

  constructor(props: ListProps) {
    super(props);
    this.#heights = new Heights(props.guess);
    this.#heights.resize(props.count);
    this.#following = props.follow ?? false;
    if (props.start) this.#anchor = {index: 0, offset: props.start.offset, key: props.start.key};
  }

  get following(): boolean {
    return this.#following;
  }

  // Brings a row into view: to the middle, or to the upper edge.
  show(index: number, align: "start" | "center" = "center"): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    this.#setFollowing(false);
    const room = align === "center" ? Math.max(0, (scroller.clientHeight - this.#heights.of(index)) / 2) : 0;
    const place = Math.max(0, this.#heights.top(index) - room);
    const edge = this.#heights.at(place);
    this.#anchorAt(edge, place - this.#heights.top(edge));
    this.#keepPlace();
    // Heights in between were estimates; once those rows are rendered the place is more exact.
    requestAnimationFrame(() => {
      const again = Math.max(0, this.#heights.top(index) - room);
      const now = this.#heights.at(again);
      this.#anchorAt(now, again - this.#heights.top(now));
      this.#keepPlace();
    });
  }

  toEnd(): void {
    this.#setFollowing(true);
    this.#keepPlace();
  }

  scrollBy(pixels: number): void {
    this.#scroller.current?.scrollBy({top: pixels});
  }

  override componentDidMount(): void {
    const scroller = this.#scroller.current!;
    this.#observer = new ResizeObserver((entries) => {
      let changed = false;
      for (const entry of entries) {
        if (entry.target === scroller) {
          this.setState({height: scroller.clientHeight});
          changed = true;
        } else {
          const index = this.#rows.get(entry.target);
          if (index !== undefined && entry.target.isConnected && this.#heights.set(index, (entry.target as HTMLElement).offsetHeight) !== 0) changed = true;
        }
      }
      if (changed) this.#keepPlace();
    });
    this.#observer.observe(scroller);
    // The first rows were rendered before the observer existed, and their content may still grow.
    for (const element of this.#rows.keys()) this.#observer.observe(element);
    this.setState({height: scroller.clientHeight});
    this.#keepPlace();
  }

  override componentWillUnmount(): void {
    this.#observer?.disconnect();
    const {key, offset} = this.#anchor;
    this.props.onPlace?.(key === undefined ? undefined : {key, offset});
  }

  override componentDidUpdate(): void {
    // Measures new rows before they are painted.
    for (const [element, index] of this.#rows) {
      if (element.isConnected) {
        this.#heights.set(index, (element as HTMLElement).offsetHeight);
      } else {
        this.#observer?.unobserve(element);
        this.#rows.delete(element);
      }
    }
    this.#keepPlace();
  }

  #setFollowing(follows: boolean): void {
    if (this.#following === follows) return;
    this.#following = follows;
    this.props.onFollow?.(follows);
  }

  #keepPlace(): void {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    // The person may have scrolled since; the browser reports it only with the next frame.
    if (Math.abs(scroller.scrollTop - this.#place) > 1) this.#noteScroll(scroller);
    const spacer = scroller.firstElementChild as HTMLElement;
    const total = this.#heights.total;
    spacer.style.height = `${total}px`;
    for (const [element, index] of this.#rows) {
      (element as HTMLElement).style.transform = `translateY(${this.#heights.top(index)}px)`;
    }
    const wanted = this.#following ? (this.#isHeld() ? this.#place : total - scroller.clientHeight) : this.#heights.top(this.#anchor.index) + this.#anchor.offset;
    const place = Math.max(0, Math.min(Math.round(wanted), Math.round(total - scroller.clientHeight)));
    if (Math.abs(scroller.scrollTop - place) > 1) scroller.scrollTop = place;
    this.#place = scroller.scrollTop;
    if (Math.abs(this.state.top - scroller.scrollTop) > kBeyond / 4) this.setState({top: scroller.scrollTop});
  }

  #isHeld(): boolean {
    return this.props.isHeld?.() ?? false;
  }

  #scrolled = (): void => {
    const scroller = this.#scroller.current;
    if (!scroller) return;
    // A late scroll event for the list's own move: rows may have grown since, so the person has not left the end.
    if (Math.abs(scroller.scrollTop - this.#place) > 1) this.#noteScroll(scroller);
    if (scroller.scrollTop !== this.state.top) this.setState({top: scroller.scrollTop});
  };

  #noteScroll(scroller: HTMLElement): void {
    const top = scroller.scrollTop;
    this.#place = top;
    const atEnd = scroller.scrollHeight - top - scroller.clientHeight < kAtEnd;
    if (this.props.follow !== undefined) this.#setFollowing(atEnd);
    const index = this.#heights.at(top);
    this.#anchorAt(index, top - this.#heights.top(index));
  }

  // At the very top the list stays at the top, so that new rows are visible.
  #anchorAt(index: number, offset: number): void {
    const isTop = index === 0 && offset === 0;
    this.#anchor = {index, offset, key: isTop || index >= this.props.count ? undefined : this.props.keyOf(index)};
  }

  // Finds the row of the upper edge, which is near its old index unless much has changed.
  #findAnchor(props: ListProps): void {
    const {key, index} = this.#anchor;
    if (key === undefined || (index < props.count && props.keyOf(index) === key)) return;
    for (let by = 1; index - by >= 0 || index + by < props.count; ++by) {
      for (const place of [index + by, index - by]) {
        if (place < 0 || place >= props.count || props.keyOf(place) !== key) continue;
        this.#anchor.index = place;
        return;
      }
    }
    this.#anchor = {index: Math.min(index, Math.max(0, props.count - 1)), offset: 0, key: undefined};
  }

  #hold = (index: number) => (element: HTMLElement | null): void => {
    if (!element) return;
    const known = this.#rows.get(element);
    if (known === index) return;
    if (known === undefined) this.#observer?.observe(element);
    this.#rows.set(element, index);
  };

  override render(props: ListProps, {top, height}: ListState) {
    const heights = this.#heights;
    if (heights.length !== props.count) heights.resize(props.count);
    this.#findAnchor(props);
    const from = this.#following && !this.#isHeld() ? Math.max(0, heights.total - height) : top;
    const made = [];
    let first = -1;
    let last = -1;
    let index = props.count > 0 ? heights.at(Math.max(0, from - kBeyond)) : 0;
    let place = heights.top(index);
    for (; index < props.count && place < from + height + kBeyond; ++index) {
      const content = props.row(index);
      if (content === null) {
        place -= heights.of(index);
        heights.set(index, 0);
      } else {
        if (heights.of(index) === 0) heights.set(index, props.guess);
        made.push(
          <div key={props.keyOf(index)} class="row" ref={this.#hold(index)} data-index={index}
               role={props.role === "feed" ? "article" : "listitem"} aria-setsize={props.count} aria-posinset={index + 1}
               style={{transform: `translateY(${place}px)`}}>{content}</div>);
      }
      if (place + heights.of(index) > from && first < 0) first = index;
      if (place < from + height) last = index;
      place += heights.of(index);
    }
    if ((first !== this.#seen.first || last !== this.#seen.last) && last >= 0) {
      this.#seen = {first, last};
      queueMicrotask(() => props.onRange?.(Math.max(0, first), last));
    }
    return (
      <div class="virtual" ref={this.#scroller} onScroll={this.#scrolled} onPointerLeave={() => this.#keepPlace()} tabIndex={0} role={props.role ?? "list"} aria-label={props.label}>
        <div class="virtual-space">{made}</div>
      </div>
    );
  }
}
