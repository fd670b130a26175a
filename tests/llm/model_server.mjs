// A small real language model behind a server that speaks OpenAI's protocol, on loopback.
//     node model_server.mjs MODEL.gguf   prints its address, and ends with stdin
// The model is a base model, so the chat becomes one text, and a grammar makes the answer JSON.
import { createServer } from "node:http";
import { getLlama, LlamaCompletion } from "node-llama-cpp";

const llama = await getLlama({ gpu: false, build: "never", logLevel: "error" });
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: 2048, threads: 2 });
const completion = new LlamaCompletion({ contextSequence: context.getSequence() });

async function answer(body) {
    const { messages, max_tokens: most, response_format: form } = body;
    const schema = form?.json_schema?.schema;
    const grammar = schema && await llama.createGrammarForJsonSchema(schema);
    const prompt = messages.map((one) => one.content).join("\n\n") + "\n\nJSON:\n";
    const text = await completion.generateCompletion(prompt, {
        maxTokens: Math.min(most ?? 256, 256), temperature: 0, grammar,
    });
    const tokens = model.tokenize(text).length;
    return {
        id: "1", object: "chat.completion", created: 0, model: "gemma",
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
        usage: { prompt_tokens: model.tokenize(prompt).length, completion_tokens: tokens, total_tokens: 0 },
    };
}

let before = Promise.resolve();
const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const turn = before.then(() => answer(JSON.parse(Buffer.concat(parts).toString())));
    before = turn.catch(() => undefined);
    const [status, body] = await turn.then((one) => [200, one], (error) => [400, { error: { message: String(error) } }]);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
process.stdin.resume().on("end", () => process.exit(0));
