// Row heights, estimated until a row has been rendered. A Fenwick tree, so that finding a row's place or the row at a
// place costs log n in a list of any length.
export class Heights {
  #own: Float64Array;
  #tree: Float64Array;
  #length = 0;

  constructor(private readonly guess: number) {
    this.#own = new Float64Array(1024);
    this.#tree = new Float64Array(1025);
  }

  get length(): number {
    return this.#length;
  }

  resize(length: number): void {
    if (length > this.#own.length) {
      const own = new Float64Array(Math.max(length, this.#own.length * 2));
      own.set(this.#own.subarray(0, this.#length));
      this.#own = own;
      own.fill(this.guess, this.#length, length);
      this.#length = length;
      this.#rebuild();
      return;
    }
    for (let index = this.#length; index < length; ++index) {
      this.#own[index] = 0;
      this.#length = index + 1;
      this.set(index, this.guess);
    }
    for (let index = length; index < this.#length; ++index) this.set(index, 0);
    this.#length = length;
  }

  of(index: number): number {
    return this.#own[index] ?? 0;
  }

  // Returns the difference to the old height.
  set(index: number, height: number): number {
    const change = height - this.of(index);
    if (change === 0) return 0;
    this.#own[index] = height;
    for (let node = index + 1; node < this.#tree.length; node += node & -node) this.#tree[node]! += change;
    return change;
  }

  // Where the row begins.
  top(index: number): number {
    let sum = 0;
    for (let node = Math.min(index, this.#length); node > 0; node -= node & -node) sum += this.#tree[node]!;
    return sum;
  }

  get total(): number {
    return this.top(this.#length);
  }

  // The row at this place, or the last row for a place beyond the end.
  at(place: number): number {
    let index = 0;
    let rest = place;
    for (let step = highestBit(this.#tree.length - 1); step > 0; step >>= 1) {
      const next = index + step;
      if (next < this.#tree.length && this.#tree[next]! <= rest) {
        index = next;
        rest -= this.#tree[next]!;
      }
    }
    return Math.max(0, Math.min(index, this.#length - 1));
  }

  #rebuild(): void {
    this.#tree = new Float64Array(this.#own.length + 1);
    for (let node = 1; node < this.#tree.length; ++node) {
      this.#tree[node]! += node <= this.#length ? this.#own[node - 1]! : 0;
      const parent = node + (node & -node);
      if (parent < this.#tree.length) this.#tree[parent]! += this.#tree[node]!;
    }
  }
}

function highestBit(value: number): number {
  return value <= 0 ? 0 : 2 ** Math.floor(Math.log2(value));
}
