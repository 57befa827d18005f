// The connection of a table: comes back by itself after it was lost.

export class Connection {
  constructor(token, { onmessage, onlost, ongone }) {
    Object.assign(this, { token, onmessage, onlost, ongone });
    this.delay = 300;
    this.closed = false;
    this.#open();
  }

  #open() {
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(`${scheme}//${location.host}/ws`);
    this.socket = socket;
    socket.onopen = () => socket.send(JSON.stringify({ token: this.token }));
    socket.onmessage = (event) => {
      this.delay = 300;
      const message = JSON.parse(event.data);
      if (message.type === "gone") {
        this.closed = true;
        this.ongone();
      } else this.onmessage(message);
    };
    socket.onclose = () => {
      if (this.closed || this.socket !== socket) return;
      this.onlost();
      setTimeout(() => { if (!this.closed) this.#open(); }, this.delay);
      this.delay = Math.min(this.delay * 2, 5000);
    };
  }

  // Whether the message could be sent; what could not is asked for again with the next state.
  send(message) {
    if (this.socket.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  close() {
    this.closed = true;
    this.socket.close();
  }
}
