/** Prints the slowest files at the end of a run, so that a file that becomes slow is noticed. */
import type { Reporter, TestModule } from 'vitest/node';

const SHOWN = 15;

const timeOf = (module: TestModule): number => {
  const { setupDuration, collectDuration, duration } = module.diagnostic();
  return setupDuration + collectDuration + duration;
};

export default class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length <= SHOWN) return;
    const slowest = [...modules].sort((a, b) => timeOf(b) - timeOf(a)).slice(0, SHOWN);
    console.log(` The slowest of ${modules.length} files, in seconds:`);
    for (const module of slowest) {
      const seconds = (timeOf(module) / 1_000).toFixed(1);
      console.log(`${seconds.padStart(8)}  ${module.project.name.padEnd(8)} ${module.relativeModuleId}`);
    }
  }
}
