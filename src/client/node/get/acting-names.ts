/**
 * Names of files that tools run or obey without being asked: when the tool enters, lists or opens the folder, or is started
 * in it for something else. A server must not choose such a name (SEC-RES-3). Build files that a user starts on purpose
 * (`Makefile`, `package.json`) are not among them, nor is `.gitattributes`: the filters that it names run only if the user's
 * own configuration defines them.
 */

export interface ActingNames {
  /** Which tools act on the names, and how. */
  readonly why: string;
  /**
   * `anywhere`: in every folder. `top`: only in the folder that `get` writes to, which may be somebody's home. `files`: in
   * every folder, but only as the name of a file.
   */
  readonly where: 'anywhere' | 'top' | 'files';
  /** In upper or lower case. `.x*` stands for all names that begin with `.x`, `*.x` for all that end in `.x`. */
  readonly names: readonly string[];
}

const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** `docs/guide/get.md` has the same table. */
export const ACTING_NAMES: readonly ActingNames[] = [
  {
    why: 'Version control runs hooks and programs that its own folder names',
    where: 'anywhere',
    names: words('.git .hg .svn .bzr .jj .sl _darcs .pijul .fslckout _FOSSIL_ .repo'),
  },
  {
    why: 'git takes a folder with this file, `objects` and `refs` for a repository, and runs what its `config` names',
    where: 'files',
    names: words('HEAD'),
  },
  {
    why: 'git fetches what it names, and hook managers run it at the next commit',
    where: 'anywhere',
    names: words(
      '.gitmodules .lfsconfig .husky .githooks .pre-commit-config.yaml .pre-commit-config.yml .lefthook* lefthook.yml lefthook.yaml lefthook.toml lefthook.json lefthook-local.* .overcommit.yml .lintstagedrc*',
    ),
  },
  {
    why: 'Shells run or load it when the folder is entered',
    where: 'anywhere',
    names: words('.envrc .env .env.* .direnv .autoenv* .mise* mise.toml mise.*.toml .rtx* .tool-versions .config'),
  },
  {
    why: 'Editors run its tasks, settings and plugins when the folder or a file in it is opened',
    where: 'anywhere',
    names: words(
      '.vscode .vscode-* *.code-workspace .vs .idea .fleet .zed .nova .exrc _exrc .nvimrc .nvim.lua .vimrc _vimrc .gvimrc .lvimrc .local.vimrc .dir-locals* .ycm_extra_conf.py .sublime* *.sublime-project .eslintrc* eslint.config.* .prettierrc* prettier.config.* .stylelintrc* stylelint.config.* .babelrc* .venv node_modules',
    ),
  },
  {
    why: 'Containers of development environments are built and started from it when the folder is opened',
    where: 'anywhere',
    names: words('.devcontainer* .gitpod* .idx .replit .codesandbox .devfile.yaml'),
  },
  {
    why: 'Coding agents start the servers and hooks that it names, or take it for instructions of the user',
    where: 'anywhere',
    names: words(
      '.mcp.json mcp.json .claude* CLAUDE.md CLAUDE.local.md AGENTS.md AGENTS.override.md .agents .codex .cursor* .windsurf* .cline* .roo* .continue* .gemini GEMINI.md .qwen QWEN.md .opencode opencode.json opencode.jsonc .crush.json crush.json .kiro .amazonq .junie .augment* .aider* .goose* .kilocode* .trae .github',
    ),
  },
  {
    why: 'Package managers and build tools run programs that it names, whatever they are started for',
    where: 'anywhere',
    names: words(
      '.npmrc .yarn .yarnrc* .pnp.* .pnpmfile.cjs .pnpmfile.mjs bunfig.toml .bunfig.toml .cargo rust-toolchain rust-toolchain.toml .bundle .mvn .gradle .terraform .terraformrc .vagrant',
    ),
  },
  {
    why: 'Interpreters and debuggers run it when they are started in the folder',
    where: 'anywhere',
    names: words(
      '.Rprofile .Renviron .RData .octaverc .irbrc .pryrc .pdbrc* .ghci .iex.exs .ocamlinit .utoprc .gdbinit .lldbinit* .radare2rc',
    ),
  },
  {
    why: 'Desktops fetch or run what it names when the folder is listed',
    where: 'anywhere',
    names: words('desktop.ini autorun.inf .directory .DS_Store LaunchAgents LaunchDaemons'),
  },
  {
    why: 'Explorer asks the server that it names for an icon when the folder is listed, and so logs the user in there',
    where: 'anywhere',
    names: words('*.lnk *.url *.scf *.desktop *.library-ms *.searchconnector-ms *.theme *.website *.appref-ms'),
  },
  {
    why: 'Web servers take it for settings of the folder',
    where: 'anywhere',
    names: words('.htaccess .htpasswd .user.ini web.config'),
  },
  {
    why: 'In a home directory, shells and sessions run it, and programs take it for their settings and keys',
    where: 'top',
    names: words(
      '.bash* .zsh* .zlog* .profile .login .logout .cshrc .tcshrc .kshrc .mkshrc .shrc .inputrc .xinit* .xsession* .xprofile .xserverrc .Xresources .Xdefaults .pam_environment .screenrc .tmux* .local .ssh .gnupg .gitconfig .git-credentials .hgrc .subversion .netrc _netrc .curlrc _curlrc .wgetrc .vim .emacs* .nanorc .psqlrc .my.cnf .mylogin.cnf .sqliterc .pypirc .pip .condarc .gemrc .m2 .ivy2 .sbt .aws .azure .gcloud .kube .docker .forward .procmailrc .rhosts .shosts .k5login AppData',
    ),
  },
];
