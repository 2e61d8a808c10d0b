/** The chart and the composition, parsed by the code of Helm and Docker Compose, and checked against the schemas of Kubernetes. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { parseConfig } from '../../src/config/load.ts';
import { describeWith } from '../services/service.ts';
import { chart, composition, DEPLOY, deployTools, validate } from './tools.ts';

/** The oldest Kubernetes that the chart supports, and the latest one with available schemas. */
const VERSIONS = ['1.25', '1.37'];

const ALL = `${DEPLOY}/helm/ci/all-values.yaml`;

const key = (): string => randomBytes(32).toString('base64');

// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the environment, as a configuration names it
const VARIABLE = '${VITRINE_KEYS}';

const LEAST = { config: { keys: [VARIABLE], bus: 'redis://valkey:6379', mounts: { docs: '/srv' } } };

// biome-ignore lint/suspicious/noExplicitAny: manifests are of any shape; those that are looked at are validated before
type Manifest = any;

describeWith([deployTools])('the chart', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'vitrine-chart-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function valuesOf(values: object): Promise<string> {
    const file = join(folder, 'values.yaml');
    await writeFile(file, stringify(values));
    return file;
  }

  async function render(values: string): Promise<{ readonly file: string; readonly of: (kind: string) => Manifest }> {
    const text = await chart('library', [values]);
    const file = join(folder, 'manifests.yaml');
    await writeFile(file, text);
    const all = parseAllDocuments(text).map((each) => each.toJS() as Manifest);
    return { file, of: (kind) => all.find((each) => each.kind === kind) };
  }

  const configOf = (configMap: Manifest, env: Record<string, string>) =>
    parseConfig(configMap.data['vitrine.yaml'], 'vitrine.yaml', { env });

  it.each(VERSIONS)('with everything on is valid for Kubernetes %s', async (version) => {
    const { file } = await render(ALL);
    const lines = await validate(file, version);
    expect(lines.filter((line) => !line.includes(' passed '))).toEqual([
      expect.stringContaining('find schema for kind ServiceMonitor'),
    ]);
    expect(lines).toHaveLength(9);
  });

  it('with the fewest values makes a key, and a valid configuration', async () => {
    const { file, of } = await render(await valuesOf(LEAST));
    for (const version of VERSIONS) expect((await validate(file, version)).join()).not.toMatch(/WARN|ERROR/);
    expect(of('HorizontalPodAutoscaler')).toBeUndefined();
    const text = Buffer.from(of('Secret').data.VITRINE_KEYS, 'base64').toString();
    expect(Buffer.from(text, 'base64')).toHaveLength(32);
    expect(configOf(of('ConfigMap'), { VITRINE_KEYS: text }).bus).toBe('redis://valkey:6379');
    expect(of('NetworkPolicy').spec.policyTypes).toEqual(['Ingress']);
    expect(of('NetworkPolicy').spec.ingress[0].from).toEqual([{ podSelector: {} }]);
  });

  it('runs without the rights of root, over a read-only root folder, with probes of readiness', async () => {
    const { of } = await render(ALL);
    const { spec } = of('Deployment').spec.template;
    const [vitrine] = spec.containers;
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(spec.automountServiceAccountToken).toBe(false);
    expect(vitrine.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(vitrine.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http', scheme: 'HTTP' });
    expect(vitrine.livenessProbe.httpGet.path).toBe('/healthz');
    expect(vitrine.args.join(' ')).toBe('serve --config /etc/vitrine/vitrine.yaml --http 0.0.0.0:8931');
    expect(vitrine.envFrom).toEqual([{ secretRef: { name: 'vitrine-secrets' } }]);
    expect(of('Secret')).toBeUndefined();
    const env = { VITRINE_KEYS: key(), BUS_PASSWORD: 'abc', METRICS_TOKEN: 'a-token-for-the-scraper' };
    expect(configOf(of('ConfigMap'), env).bus).toBe('rediss://vitrine:abc@valkey.data:6379');
  });

  it('scales by running requests, keeps replicas when nodes go, and connects only where it may', async () => {
    const { of } = await render(ALL);
    expect(of('Deployment').spec.replicas).toBeUndefined();
    const [metric] = of('HorizontalPodAutoscaler').spec.metrics;
    expect(metric.pods).toEqual({
      metric: { name: 'vitrine_requests' },
      target: { type: 'AverageValue', averageValue: '25' },
    });
    const { matchLabels } = of('Deployment').spec.selector;
    expect(of('PodDisruptionBudget').spec).toEqual({ maxUnavailable: 1, selector: { matchLabels } });
    expect(of('NetworkPolicy').spec.egress).toHaveLength(2);
    expect(of('Service').spec.selector).toEqual(matchLabels);
    expect(of('Deployment').spec.template.metadata.labels).toMatchObject(matchLabels);
  });

  it('replaces replicas when the configuration changes, and probes over TLS if TLS is served', async () => {
    const before = (await render(await valuesOf(LEAST))).of('Deployment').spec.template;
    const tls = { cert: '/srv/cert.pem', key: '/srv/key.pem' };
    const config = { ...LEAST.config, server: { tls } };
    const after = (await render(await valuesOf({ config }))).of('Deployment').spec.template;
    expect(after.metadata.annotations['vitrine/config']).not.toBe(before.metadata.annotations['vitrine/config']);
    expect(after.spec.containers[0].readinessProbe.httpGet.scheme).toBe('HTTPS');
  });

  it.each([
    [{ config: { mounts: { docs: '/srv' } } }, 'Several replicas need config.bus'],
    [{ config: { bus: 'redis://valkey' } }, 'config.mounts says what is served'],
    [{ ...LEAST, ingress: { enabled: true } }, 'ingress.host says'],
    [{ ...LEAST, replicaCount: 3 }, 'replicaCount'],
    [{ ...LEAST, autoscaling: { min: 0 } }, 'minimum'],
  ])('reports wrong values: %#', async (values, words) => {
    await expect(chart('library', [await valuesOf(values)])).rejects.toThrow(words);
  });

  it('would be invalid with an unknown field', async () => {
    const { file } = await render(await valuesOf({ ...LEAST, resources: { limit: { memory: '1Gi' } } }));
    await expect(validate(file, '1.37')).rejects.toThrow();
  });
});

describeWith([deployTools])('the composition', () => {
  const env = { VITRINE_KEYS: key(), BUS_PASSWORD: 'abc', METRICS_TOKEN: 'a-token-for-the-scraper' };

  it('is valid for Docker Compose, with three replicas that cannot write', async () => {
    const { services } = await composition(`${DEPLOY}/compose.yaml`, env);
    expect(Object.keys(services).sort()).toEqual(['caddy', 'prometheus', 'valkey', 'vitrine']);
    expect(services.vitrine).toMatchObject({ deploy: { replicas: 3 }, read_only: true, environment: env });
    expect(services.valkey?.command).toContain('abc');
  });

  it('gives Prometheus the token by the file that it reads', async () => {
    const { services } = await composition(`${DEPLOY}/compose.yaml`, env);
    const { scrape_configs } = parse(await readFile(`${DEPLOY}/prometheus.yaml`, 'utf8'));
    const [secret] = services.prometheus?.secrets ?? [];
    expect(scrape_configs[0].authorization.credentials_file).toBe(secret?.target);
    expect(services.prometheus?.volumes?.map(({ target }) => target)).toContain('/etc/prometheus/prometheus.yaml');
  });

  it('does not start without keys', async () => {
    await expect(composition(`${DEPLOY}/compose.yaml`, { ...env, VITRINE_KEYS: '' })).rejects.toThrow(
      'put it into .env',
    );
  });
});
