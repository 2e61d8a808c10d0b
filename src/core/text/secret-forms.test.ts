import { describe, expect, it } from 'vitest';
import { coverSecrets, coverSecretsIn } from './secret-forms.ts';

const SECRET = 'hunter2';
const KEY = `ghp_${'a1B2'.repeat(9)}`;

describe('secrets in the log', () => {
  it.each([
    `password=${SECRET}`,
    `Password: ${SECRET}`,
    `DB_PASSWORD='${SECRET} with spaces'`,
    `"password":"${SECRET}"`,
    `{\\"password\\":\\"${SECRET}\\"}`,
    `passwd = "${SECRET}`,
    `password => ${SECRET},`,
    `x?password=${SECRET}&user=anna`,
    `pwd:${SECRET}`,
    `client_secret=${SECRET}`,
    `api-key: ${SECRET}`,
    `X-API-Key: ${SECRET}`,
    `access_token=${SECRET}`,
    `AUTH_TOKEN=${SECRET}`,
    `Authorization: Bearer ${SECRET}`,
    `authorization: ${SECRET}`,
    `using bearer ${SECRET} now`,
    `Cookie: ${SECRET}`,
    `postgres://anna:${SECRET}@db.example/x`,
    `-----BEGIN RSA PRIVATE KEY-----\n${SECRET}\n-----END RSA PRIVATE KEY-----`,
    `-----BEGIN PRIVATE KEY-----\n${SECRET}`,
  ])('are covered: %s', (line) => {
    expect(coverSecrets(`before ${line}`)).not.toContain(SECRET);
    expect(coverSecrets(`before ${line}`)).toContain('before ');
    expect(coverSecrets(line)).toContain('***');
  });

  it('are covered whole where a form is known', () => {
    expect(coverSecrets(`got ${KEY}XYZ from anna`)).toBe('got *** from anna');
  });

  it.each([
    'listening on port 80',
    'passwords are checked',
    'max_tokens=100',
    'see https://x.example/a:b',
    'key: value',
    'Resource URI 1password://config is invalid',
  ])('do not include: %s', (line) => {
    expect(coverSecrets(line)).toBe(line);
  });

  it('are covered in data, also by the name of their field', () => {
    const data = { user: 'anna', password: SECRET, list: [{ 'api-key': 7 }, `token=${SECRET}`], count: 1 };
    expect(coverSecretsIn(data)).toEqual({
      user: 'anna',
      password: '***',
      list: [{ 'api-key': '***' }, 'token=***'],
      count: 1,
    });
  });

  it('are searched for in time that grows linearly with the text', () => {
    // If the time grew with the square of the length, this would take minutes.
    for (const piece of ['password', 'a://', '-----BEGIN ', '"', 'password="', 'eyJaaaaaaaa.', 'token=\\', '-']) {
      const start = process.cpuUsage();
      coverSecrets(piece.repeat(Math.ceil(100_000 / piece.length)));
      const { user, system } = process.cpuUsage(start);
      expect((user + system) / 1_000, piece).toBeLessThan(10_000);
    }
  });
});
