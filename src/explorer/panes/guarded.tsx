/** Draws a part of the page; where that breaks, it says so, and the rest goes on. */
import { Component, type ComponentChildren } from 'preact';
import { refusalOf } from '../client/refusal.ts';
import { Problem } from './problem.tsx';

interface GuardedProps {
  /** Another one is tried anew. */
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
