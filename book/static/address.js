// What an element shows is in the address, so that a link leads to the same picture.

/** What the address says, and a way to change it without leaving the page. */
export class Address {
  constructor(element) {
    this.place = () => element.closest("section[id]")?.id;
    this.values = {};
  }

  get(name) {
    return new URLSearchParams(location.search).get(name);
  }

  /** A whole number from 0 to below an end, or what to take instead. */
  number(name, end, otherwise) {
    const text = this.get(name);
    return /^\d+$/.test(text) && Number(text) < end ? Number(text) : otherwise;
  }

  /** Names and values; undefined takes a name out. */
  set(values) {
    clearTimeout(this.soon);
    Object.assign(this.values, values);
    this.soon = setTimeout(() => this.write(), 200); // browsers refuse many in a row
  }

  write() {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries(this.values))
      if (value === undefined) query.delete(name);
      else query.set(name, value);
    const place = this.place();
    history.replaceState(history.state, "", `?${query}${place ? `#${place}` : location.hash}`);
  }
}
