/** Configurations as hosts and their users write them, with comments, other servers and settings of all kinds. */
import { join } from 'node:path';
import type { Machine } from '../../src/cli/client/reaching/host-places.ts';

export interface Configuration {
  readonly host: string;
  readonly scope: 'user' | 'project';
  /** Below the home, or the project. */
  readonly file: Readonly<Record<'linux' | 'darwin' | 'win32', string>>;
  readonly text: string;
  /** The keys that lead to the entry. */
  readonly section: string;
}

const everywhere = (file: string): Configuration['file'] => ({ linux: file, darwin: file, win32: file });

const application = (file: string): Configuration['file'] => ({
  linux: `.config/${file}`,
  darwin: `Library/Application Support/${file}`,
  win32: `AppData/Roaming/${file}`,
});

/** A machine with this system. On Windows, an environment variable names the folder where programs keep their files. */
export const machineOf = (platform: keyof Configuration['file'], home: string, cwd: string): Machine => ({
  cwd,
  home,
  platform,
  env: platform === 'win32' ? { APPDATA: join(home, 'AppData', 'Roaming') } : {},
});

const MCP_SERVERS = `{
  "mcpServers": {
    "github": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-github"],
      "env": {
        "GITHUB_PERSONAL_ACCESS_TOKEN": "ghp_notARealTokenOfAnybody0123456789"
      }
    },
    "filesystem": {
      "command": "npx",
      "args": [
        "-y",
        "@modelcontextprotocol/server-filesystem",
        "/Users/ada/Desktop"
      ]
    }
  }
}
`;

export const CONFIGURATIONS: readonly Configuration[] = [
  {
    host: 'Claude Code',
    scope: 'user',
    file: everywhere('.claude.json'),
    section: 'mcpServers',
    text: `{
  "numStartups": 412,
  "installMethod": "native",
  "tipsHistory": {
    "new-user-warmup": 3,
    "plan-mode-for-complex-tasks": 398
  },
  "projects": {
    "/home/ada/engine": {
      "allowedTools": [],
      "history": [
        { "display": "what is in \\"docs\\"? // not a comment", "pastedContents": {} }
      ],
      "mcpServers": {
        "vitrine": { "type": "stdio", "command": "node", "args": ["of the project"], "env": {} }
      },
      "hasTrustDialogAccepted": true
    }
  },
  "mcpServers": {
    "sentry": {
      "type": "http",
      "url": "https://mcp.sentry.dev/mcp"
    },
    "airtable": {
      "type": "stdio",
      "command": "npx",
      "args": [
        "-y",
        "airtable-mcp-server"
      ],
      "env": {
        "AIRTABLE_API_KEY": "patNotARealKey.0123456789abcdef"
      }
    }
  },
  "userID": "0123456789abcdef",
  "autoUpdates": false
}`,
  },
  { host: 'Claude Code', scope: 'project', file: everywhere('.mcp.json'), section: 'mcpServers', text: MCP_SERVERS },
  {
    host: 'Claude Desktop',
    scope: 'user',
    file: application('Claude/claude_desktop_config.json'),
    section: 'mcpServers',
    // As on Windows: a byte-order mark, and lines that end in CR LF.
    text: `\ufeff${MCP_SERVERS.replaceAll('\n', '\r\n')}`,
  },
  {
    host: 'VS Code',
    scope: 'user',
    file: application('Code/User/mcp.json'),
    section: 'servers',
    text: `{
	// Servers of all workspaces
	"servers": {
		"playwright": {
			"command": "npx",
			"args": ["-y", "@microsoft/mcp-server-playwright"], // pinned by nobody
		},
		/* asks for its key, see inputs */
		"perplexity": {
			"type": "stdio",
			"command": "docker",
			"args": ["run", "-i", "--rm", "mcp/perplexity-ask"],
			"env": { "PERPLEXITY_API_KEY": "\${input:perplexity-key}" },
		}, // the last one
		// nothing below
	},
	"inputs": [
		{ "type": "promptString", "id": "perplexity-key", "description": "Perplexity API Key", "password": true },
	],
}
`,
  },
  {
    host: 'VS Code Insiders',
    scope: 'user',
    file: application('Code - Insiders/User/mcp.json'),
    section: 'servers',
    text: '{\n\t"inputs": [],\n\t"servers": {}\n}',
  },
  {
    host: 'VS Code',
    scope: 'project',
    file: everywhere('.vscode/mcp.json'),
    section: 'servers',
    text: `{
    "servers": {
        "docs": {
            "type": "http",
            "url": "https://learn.microsoft.com/api/mcp"
        } // no comma behind this
    }
}
`,
  },
  { host: 'Cursor', scope: 'user', file: everywhere('.cursor/mcp.json'), section: 'mcpServers', text: MCP_SERVERS },
  {
    host: 'Cursor',
    scope: 'project',
    file: everywhere('.cursor/mcp.json'),
    section: 'mcpServers',
    text: '{"mcpServers":{"linear":{"url":"https://mcp.linear.app/mcp","headers":{"Authorization":"Bearer lin_notAKeyOfAnybody"}}}}',
  },
  {
    host: 'Windsurf',
    scope: 'user',
    file: everywhere('.codeium/windsurf/mcp_config.json'),
    section: 'mcpServers',
    text: '{\n  "mcpServers": {\n    "figma": {\n      "serverUrl": "https://mcp.figma.com/mcp",\n      "disabled": false\n    }\n  }\n}\n',
  },
  {
    host: 'Zed',
    scope: 'user',
    file: {
      linux: '.config/zed/settings.json',
      darwin: '.config/zed/settings.json',
      win32: 'AppData/Roaming/Zed/settings.json',
    },
    section: 'context_servers',
    text: `// Zed settings
//
// For information on how to configure Zed, see the Zed
// documentation: https://zed.dev/docs/configuring-zed
{
  "context_servers": {
    "postgres": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-postgres", "postgresql://localhost/engine"],
      "env": {},
    },
  },
  "agent": { "default_profile": "ask", "always_allow_tool_actions": false, },
  "theme": {
    "mode": "system",
    "light": "One Light", /* by day */
    "dark": "One Dark",
  },
  "buffer_font_size": 15,
}
`,
  },
  {
    host: 'Zed',
    scope: 'project',
    file: everywhere('.zed/settings.json'),
    section: 'context_servers',
    text: '{\n  // of the team\n  "context_servers": {\n    // none yet\n  },\n  "tab_size": 2,\n}\n',
  },
  {
    host: 'Gemini CLI',
    scope: 'user',
    file: everywhere('.gemini/settings.json'),
    section: 'mcpServers',
    text: `{
  "security": { "auth": { "selectedType": "oauth-personal" } },
  "ui": { "theme": "GitHub" },
  "mcpServers": {
    "everything": { "httpUrl": "http://localhost:3001/mcp", "timeout": 5000, "trust": false }
  }
}
`,
  },
  {
    host: 'Gemini CLI',
    scope: 'project',
    file: everywhere('.gemini/settings.json'),
    section: 'mcpServers',
    text: '{ "mcpServers": { "a": { "command": "a" } } }\n',
  },
  {
    host: 'Cline',
    scope: 'user',
    file: application('Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json'),
    section: 'mcpServers',
    text: `{
  "mcpServers": {
    "git": {
      "autoApprove": ["git_status"],
      "disabled": true,
      "timeout": 60,
      "type": "stdio",
      "command": "uvx",
      "args": ["mcp-server-git", "--repository", "/home/ada/engine"]
    }
  }
}`,
  },
  {
    host: 'LM Studio',
    scope: 'user',
    file: everywhere('.lmstudio/mcp.json'),
    section: 'mcpServers',
    text: '{\n  "mcpServers": {\n    "hf-mcp-server": {\n      "url": "https://huggingface.co/mcp"\n    }\n  }\n}',
  },
  {
    host: 'opencode',
    scope: 'user',
    file: everywhere('.config/opencode/opencode.json'),
    section: 'mcp',
    text: `{
  "$schema": "https://opencode.ai/config.json",
  "model": "anthropic/claude-sonnet-4-5",
  "mcp": {
    "context7": {
      "type": "remote",
      "url": "https://mcp.context7.com/mcp",
      "enabled": true
    }
  },
  "permission": { "edit": "ask" }
}
`,
  },
  {
    host: 'opencode',
    scope: 'project',
    file: everywhere('opencode.jsonc'),
    section: 'mcp',
    text: `{
  "$schema": "https://opencode.ai/config.json", // for editors
  // The servers of this project
  "mcp": {
    "jira": {
      "type": "local",
      "command": ["bun", "x", "mcp-jira"],
      "enabled": false, // on when it is wanted
      "environment": { "JIRA_TOKEN": "{env:JIRA_TOKEN}" }
    }
  }
}
`,
  },
  {
    host: 'Codex',
    scope: 'user',
    file: everywhere('.codex/config.toml'),
    section: 'mcp_servers',
    text: `model = "gpt-5-codex"           # the large one
model_reasoning_effort = "high"
approval_policy   =   'on-request'

# notify = ["python3", "/home/ada/notify.py"]

[projects."/home/ada/engine"]
trust_level = "trusted"

[mcp_servers.context7]
command = "npx"
args = [
    "-y",                        # do not ask
    "@upstash/context7-mcp",
]
startup_timeout_sec = 20_000e-3

[mcp_servers.context7.env]
KEY = "ctx7-notARealKeyOfAnybody"

# Figma's own
[mcp_servers."figma desktop"]
url = "http://127.0.0.1:3845/mcp"
http_headers = { "X-Figma-Region" = "us-east-1" }

[profiles.fast]
model = "gpt-5-mini"
since = 2026-01-31T10:00:00Z

[tui]
notifications = true
# the end
`,
  },
  {
    host: 'Codex',
    scope: 'project',
    file: everywhere('.codex/config.toml'),
    section: 'mcp_servers',
    text: 'sandbox_mode = "workspace-write"\r\n\r\n[mcp_servers]\r\nplain = { command = "plain", args = [] } # in a line\r\n',
  },
  {
    host: 'Goose',
    scope: 'user',
    file: {
      linux: '.config/goose/config.yaml',
      darwin: '.config/goose/config.yaml',
      win32: 'AppData/Roaming/Block/goose/config/config.yaml',
    },
    section: 'extensions',
    text: `GOOSE_PROVIDER: anthropic
GOOSE_MODEL:   claude-sonnet-4-5   # or larger
extensions:
  developer:
    bundled: true
    display_name: Developer
    enabled: true
    name: developer
    timeout: 300
    type: builtin
  # fetches pages
  fetch:
    args:
    - mcp-server-fetch
    bundled: null
    cmd: uvx
    description: 'Fetches: pages'
    enabled: false
    env_keys: []
    envs: {}
    name: fetch
    timeout: null
    type: stdio   # as a program

# What it may do
GOOSE_MODE: smart_approve
otel: {endpoint: "http://localhost:4318", on: yes}
`,
  },
];
