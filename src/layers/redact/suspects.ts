/**
 * A pattern that matches a line in or beside a secret, whatever its kind, and other lines, too. With it, a provider's search
 * finds the resources that may have secrets. A resource whose secret this pattern misses gives no matches in a search.
 */
export const SUSPECT_LINES: string = [
  'PRIVATE(?: |%20|\\+)KEY',
  '(?:A3T[A-Z0-9]|AKIA|AGPA|AIDA|AROA|AIPA|ANPA|ANVA|ASIA)[A-Z0-9]{16}',
  '(?:SECRET|secret|Secret)_?(?:ACCESS|access|Access)_?(?:KEY|key|Key)',
  '://[^/:\\s]+:[^@/\\s]+@',
  '(?i:hooks\\.slack\\.com/services/)',
  'x(?:ox[abopr]|app)-',
  '_authToken=',
  'npm_[A-Za-z0-9_]{36}',
  'gh[oprsu]_[A-Za-z0-9_]{36}',
  'github_pat_',
  'T3BlbkFJ',
  'sk-ant-api0',
  'lin_api_',
  'SG\\.\\w',
  'shp(?:pa|ca|at|ss)_',
  'ops_ey',
].join('|');
