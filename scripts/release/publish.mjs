/** Publishes the parts of a release in the order of their dependencies. A second run skips the parts that are published already. */
import { execFileSync } from 'node:child_process';

/**
 * @typedef {object} Release
 * @property {string} root the folder in which the commands run
 * @property {string} name the name of the package in npm
 * @property {string} version
 * @property {string} image the name of the container image, with its tag
 * @property {string} server the name in the MCP registry
 * @property {{tarball: string, bundle: string, sbom: string}} files paths, relative to the root
 * @property {() => void} writeServer writes .release/server.json, with the digest of the bundle as it is now
 */

/** The servers of the MCP registry. */
const REGISTRY = 'https://registry.modelcontextprotocol.io/v0.1/servers';

/**
 * @param {Release} release
 * @param {boolean} dryRun only prints the commands
 * @throws the error of the first command that fails
 */
export function publish(release, dryRun) {
  for (const { command, isPublished, published, before } of steps(release)) {
    const line = command.join(' ');
    if (dryRun) console.log(`Left out: ${line}`);
    else if (isPublished()) {
      console.log(`Published already: ${line}`);
      published?.();
    } else {
      console.log(`Running: ${line}`);
      before?.();
      run(release, command);
    }
  }
}

/** Each command, with a function that says whether an earlier run of it has succeeded. */
function steps(release) {
  const { name, version, image, server, files, writeServer } = release;
  const tag = `v${version}`;
  const platforms = ['--platform', 'linux/amd64,linux/arm64'];
  const attestations = ['--provenance', 'true', '--sbom', 'true'];
  const page = ['--title', `Vitrine ${version}`, '--notes-file', '.release/notes.md'];
  const inRegistry = `${REGISTRY}/${encodeURIComponent(server)}/versions/${encodeURIComponent(version)}`;
  return [
    {
      command: ['npm', 'publish', files.tarball],
      // It succeeds without output if npm has other versions only.
      isPublished: () => answer(release, ['npm', 'view', `${name}@${version}`, 'version']) === version,
    },
    {
      command: ['docker', 'buildx', 'build', ...platforms, ...attestations, '--tag', image, '--push', '.'],
      isPublished: () => answer(release, ['docker', 'manifest', 'inspect', image]) !== undefined,
    },
    {
      command: ['gh', 'release', 'create', tag, ...Object.values(files), ...page],
      // The page is a draft until it has all files.
      isPublished: () =>
        answer(release, ['gh', 'release', 'view', tag, '--json', 'isDraft', '--jq', '.isDraft']) === 'false',
      // The bundle of this run may have another digest than the one that people download.
      published() {
        run(release, ['gh', 'release', 'download', tag, '--clobber', '--output', files.bundle, '--pattern', '*.mcpb']);
      },
    },
    {
      command: ['mcp-publisher', 'publish', '.release/server.json'],
      isPublished: () => answer(release, ['curl', '--fail', '--silent', '--show-error', inRegistry]) !== undefined,
      before: writeServer,
    },
  ];
}

/** The output of a command, or undefined if it fails: then the part counts as not published, and publishing it shows what is wrong. */
function answer(release, command) {
  try {
    return run(release, command, 'ignore').trim();
  } catch (error) {
    if (error.code === 'ENOENT') throw error;
    return undefined;
  }
}

function run({ root }, [program, ...args], stderr = 'inherit') {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', stderr] });
}
