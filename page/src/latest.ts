// One question at a time; of those asked meanwhile only the last is put. Dragging never builds up a queue.
import type { Soon } from "./source";

export class Latest {
  private running = false;
  private waiting: (() => void) | null = null;
  private asked = 0;

  /** Put a question. `done` is called unless a later one was asked; an answer that is there at once is given at once. */
  ask<T>(question: () => Soon<T>, done: (answer: T) => void, failed: (error: unknown) => void): void {
    this.asked += 1;
    const number = this.asked;
    const put = (): void => {
      let answer: Soon<T>;
      try {
        answer = question();
      } catch (error) {
        failed(error);
        return;
      }
      if (!(answer instanceof Promise)) {
        done(answer);
        return;
      }
      this.running = true;
      answer
        .then(
          // What comes late is shown all the same while something newer is awaited: a picture that follows is better than none.
          (value) => done(value),
          (error: unknown) => {
            if (number === this.asked) failed(error);
          },
        )
        .finally(() => {
          this.running = false;
          const next = this.waiting;
          this.waiting = null;
          next?.();
        });
    };
    if (this.running) this.waiting = put;
    else put();
  }

  /** Forget what waits. */
  drop(): void {
    this.asked += 1;
    this.waiting = null;
  }
}
