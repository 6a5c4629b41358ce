/**
 * Tools of other SDKs, for searches over them.
 *
 * @module espalier/agents
 */

export type { ToldEffect } from './adapted.ts';
export { type AiSdkTool, type AiSdkToolsOptions, aiSdkTools } from './ai-sdk-tools.ts';
export { type McpClient, type McpToolsOptions, mcpTools } from './mcp-tools.ts';
