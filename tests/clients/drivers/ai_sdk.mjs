// An agent on the AI SDK: its model is the stand-in, its tools are those of textrawl.
import { readFileSync } from "node:fs";
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { generateText, stepCountIs } from "ai";

const { server, steps, model } = JSON.parse(readFileSync(0, "utf8"));
const transport = server.url
  ? { type: "http", url: server.url }
  : new StdioTransport({ command: server.command, args: server.args, env: server.env });
const client = await createMCPClient({ transport });
const provider = createOpenAICompatible({ name: "standin", baseURL: `${model}/v1`, apiKey: "none" });
const { text } = await generateText({
  model: provider("stand-in"),
  tools: await client.tools(),
  stopWhen: stepCountIs(steps.length + 2),
  prompt: "Play the script.",
});
console.log(text);
await client.close();
