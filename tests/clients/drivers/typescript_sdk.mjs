// A program on the TypeScript SDK: plays the steps that it reads, writes what it got.
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { server, steps } = JSON.parse(readFileSync(0, "utf8"));
const client = new Client(
  { name: "typescript-sdk", version: "1" },
  { capabilities: { elicitation: {} } },
);
let asked = 0; // the person says no, and yes when asked again
client.setRequestHandler(ElicitRequestSchema, async () =>
  asked++ === 0 ? { action: "decline" } : { action: "accept", content: { confirm: true } },
);
const transport = server.url
  ? new StreamableHTTPClientTransport(new URL(server.url))
  : new StdioClientTransport({ command: server.command, args: server.args, env: server.env });
await client.connect(transport);
const { tools } = await client.listTools();
const results = {};
for (const { name, tool, arguments: given } of steps) {
  const answer = await client.callTool({ name: tool, arguments: given });
  results[name] = { text: answer.content[0].text, structured: answer.structuredContent ?? null };
}
const instructions = client.getInstructions();
await client.close();
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), instructions, results }));
