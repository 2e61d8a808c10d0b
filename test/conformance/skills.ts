/** The skills that the suite looks for: two, one of which is in a folder of the other. */
import { memoryProvider } from 'vitrine/providers/memory';

const head = (name: string, description: string): string => `---\nname: ${name}\ndescription: ${description}\n---\n\n`;

export const skills = memoryProvider({
  name: 'skills',
  scheme: 'skill',
  fixed: true,
  resources: {
    'git-workflow/SKILL.md': {
      text: `${head('git-workflow', 'How a change is committed')}Read references/commits.md.\n`,
    },
    'git-workflow/references/commits.md': { text: '# Commits\n\nSmall ones.\n' },
    'git-workflow/releases/SKILL.md': { text: `${head('releases', 'How a version is released')}Tag it.\n` },
  },
});
