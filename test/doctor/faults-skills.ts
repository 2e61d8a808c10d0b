/** Mistakes of servers with skills, and the checks that find them. */
import { capabilities, type Fault, type Params, SKILLS } from './good.ts';
import { answers, hello, type Planted, refusal, result } from './planting.ts';

/** Changes the entry of the first skill, in `skills/list` and `skills/get`. */
const skill = (more: Params): Fault => {
  const skills = SKILLS.map((each, at) => (at === 0 ? { ...each, ...more } : each));
  return {
    answer: answers({
      'skills/list': (_, usual) => ('skills' in usual ? result({ ...usual, skills }) : refusal(-32_602)),
      'skills/get': ({ uri }, usual) =>
        'skill' in usual ? result({ ...usual, skill: skills.find((each) => each.uri === uri) }) : refusal(-32_602),
    }),
  };
};
const extensions = (skills: unknown): Params => ({
  capabilities: { ...capabilities, extensions: { 'io.modelcontextprotocol/skills': skills } },
});

export const OF_SKILLS: readonly Planted[] = [
  {
    fault: 'directoryRead is a text',
    check: 'skills-declared',
    level: 'error',
    plant: hello(extensions({ directoryRead: 'yes' })),
  },
  {
    fault: 'a skill that is not called as its folder',
    check: 'skill-entries',
    level: 'error',
    plant: skill({ frontmatter: { name: 'paint', description: 'x' } }),
  },
  {
    fault: 'a skill without files',
    check: 'skill-entries',
    level: 'error',
    plant: skill({ resources: undefined }),
  },
  {
    fault: 'two skills of one name',
    check: 'skill-names',
    level: 'warning',
    plant: skill({ uri: 'skill://other/today/SKILL.md', frontmatter: SKILLS[1]?.frontmatter, resources: 'dynamic' }),
  },
  {
    fault: 'skills cannot be got',
    check: 'skill-get',
    level: 'error',
    plant: { answer: answers({ 'skills/get': () => refusal(-32_601) }) },
  },
  {
    fault: 'a skill that is got has other files than the list says',
    check: 'skill-get',
    level: 'error',
    plant: {
      answer: answers({
        'skills/get': (_, usual) =>
          'skill' in usual ? result({ skill: { ...(usual.skill as Params), resources: 'dynamic' } }) : refusal(-32_602),
      }),
    },
  },
  {
    fault: 'an unknown skill is an internal error',
    check: 'skill-unknown',
    level: 'error',
    plant: { answer: answers({ 'skills/get': (_, usual) => ('skill' in usual ? result(usual) : refusal(-32_603)) }) },
  },
  {
    fault: 'an unknown skill has the code of the 2025 era',
    check: 'skill-unknown',
    level: 'error',
    era: 'modern',
    plant: { answer: answers({ 'skills/get': (_, usual) => ('skill' in usual ? result(usual) : refusal(-32_002)) }) },
  },
  {
    fault: 'a frontmatter that the file does not have',
    check: 'skill-files',
    level: 'error',
    plant: skill({ frontmatter: { name: 'draw', description: 'Draws rooms', license: 'MIT' } }),
  },
  {
    fault: 'a file of a skill that is another one',
    check: 'skill-files',
    level: 'error',
    plant: {
      answer: answers({
        'resources/read': ({ uri }, usual) =>
          uri === 'skill://draw/rooms.txt'
            ? result({ contents: [{ uri, text: 'six' }] })
            : 'contents' in usual
              ? result(usual)
              : refusal(-32_602),
      }),
    },
  },
  {
    fault: 'any URI is a folder',
    check: 'skill-directories',
    level: 'error',
    plant: { answer: answers({ 'resources/directory/read': (_, usual) => result({ resources: [], ...usual }) }) },
  },
  {
    fault: 'folders of skills cannot be listed',
    check: 'skill-directories',
    level: 'error',
    plant: { answer: answers({ 'resources/directory/read': () => refusal(-32_601) }) },
  },
  {
    fault: 'a cursor of skills leads back',
    check: 'pages-end',
    level: 'error',
    plant: { answer: answers({ 'skills/list': (_, usual) => result({ ...usual, skills: SKILLS, nextCursor: 'on' }) }) },
  },
];
