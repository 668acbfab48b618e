// Marks words of a text where they stand: a copy of the text lies behind the field, letter under letter.

/** A field, its copy behind it, and the box that scrolls both. */
export class Reader {
  constructor(field, copy, box) {
    Object.assign(this, { field, copy, box });
    this.mark = document.createElement('mark');
    field.addEventListener('input', () => this.clear());
    this.clear();
  }

  /** Nothing is marked; the copy still gives the field its height. */
  clear() {
    this.copy.replaceChildren(`${this.field.value}\n`); // a last empty line has no height without it
    this.places = null;
  }

  /** Marks the text from `start` to `end`, counted in code points. */
  show(start, end) {
    const text = this.field.value;
    this.places ??= placesOf(text);
    const [from, to] = [this.places[start], this.places[end]];
    this.mark.textContent = text.slice(from, to);
    this.copy.replaceChildren(text.slice(0, from), this.mark, `${text.slice(to)}\n`);
    const { offsetTop, offsetHeight } = this.mark;
    if (offsetTop < this.box.scrollTop || offsetTop + offsetHeight > this.box.scrollTop + this.box.clientHeight) {
      this.box.scrollTop = offsetTop - this.box.clientHeight / 3;
    }
  }
}

/** Where each code point begins in a string, and where the last one ends. */
function placesOf(text) {
  const places = [0];
  for (const point of text) places.push(places.at(-1) + point.length);
  return places;
}
