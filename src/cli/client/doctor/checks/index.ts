/** Every check, in order of execution: checks that end the connection come last. */
import type { Check } from '../check.ts';
import { CONNECTION_CHECKS } from './connection.ts';
import { FRESHNESS_CHECKS } from './freshness.ts';
import { HTTP_CHECKS } from './http.ts';
import { LIST_CHECKS } from './lists.ts';
import { PROMPT_CHECKS } from './prompts.ts';
import { RESOURCE_CHECKS } from './resources.ts';
import { SKILL_CHECKS } from './skills.ts';
import { STDIO_CHECKS } from './stdio.ts';
import { SUBSCRIPTION_CHECKS } from './subscriptions.ts';
import { TEMPLATE_CHECKS } from './templates.ts';
import { TOOL_CHECKS } from './tools.ts';

export const CHECKS: readonly Check[] = [
  ...CONNECTION_CHECKS,
  ...LIST_CHECKS,
  ...RESOURCE_CHECKS,
  ...TEMPLATE_CHECKS,
  ...SUBSCRIPTION_CHECKS,
  ...TOOL_CHECKS,
  ...PROMPT_CHECKS,
  ...SKILL_CHECKS,
  ...FRESHNESS_CHECKS,
  ...HTTP_CHECKS,
  ...STDIO_CHECKS,
];
