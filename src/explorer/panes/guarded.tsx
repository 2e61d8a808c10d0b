/** Draws a part of the page. If drawing it fails, it shows the error instead, and the rest of the page is not affected. */
import { Component, type ComponentChildren } from 'preact';
import { refusalOf } from '../client/refusal.ts';
import { Problem } from './problem.tsx';

interface GuardedProps {
  /** Identifies the content. When it changes, the error is forgotten. */
  readonly of: string;
  readonly children: ComponentChildren;
}

interface GuardedState {
  readonly error?: unknown;
  readonly of?: string;
}

export class Guarded extends Component<GuardedProps, GuardedState> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error, of: this.props.of });
  }

  override render() {
    const { error, of } = this.state;
    if (error === undefined || of !== this.props.of) return this.props.children;
    return <Problem refusal={refusalOf(error)} again={() => this.setState({ error: undefined })} />;
  }
}
