// A program on a TypeScript SDK with its defaults: calls a tool for each line that it reads.
import { createInterface } from "node:readline";

const v2 = "@modelcontextprotocol/client", v1 = "@modelcontextprotocol/sdk/client";
const loads = {
  v1: async () => ({
    ...(await import(`${v1}/index.js`)),
    ...(await import(`${v1}/streamableHttp.js`)),
    schema: (await import("@modelcontextprotocol/sdk/types.js")).ElicitRequestSchema,
  }),
  v2: async () => ({ ...(await import(v2)), schema: "elicitation/create" }),
};
const [, , version, url] = process.argv;
const { Client, StreamableHTTPClientTransport, schema } = await loads[version]();
const client = new Client(
  { name: "restarts", version: "1" },
  { capabilities: { elicitation: {} } },
);
let asked = 0;
client.setRequestHandler(schema, async () => {
  asked += 1;
  return { action: "accept", content: { confirm: true } };
});
let transport;
for await (const line of createInterface({ input: process.stdin })) {
  if (!transport) {
    transport = new StreamableHTTPClientTransport(new URL(url));
    await client.connect(transport);
  }
  const answer = await client.callTool(JSON.parse(line)).catch((error) => ({ failed: `${error}` }));
  const { failed = null, isError = false } = answer;
  console.log(JSON.stringify({ failed, error: isError, asked }));
}
await client.close();
