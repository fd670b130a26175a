// A small real language model behind a server that speaks OpenAI's protocol, on loopback.
//     node model_server.mjs MODEL.gguf   prints its address, and ends with stdin
// The model is a base model, so the chat becomes one text, which examples precede, and a grammar
// makes the answer JSON. One thread computes several answers in one batch. GET returns all answers.
import { createServer } from "node:http";
import { getLlama, LlamaCompletion, NoBinaryFoundError } from "node-llama-cpp";

const AT_ONCE = 4;
const MOST_TOKENS = 160; // of an answer: a longer one repeats itself
const EXAMPLES = `Text: Mirko repairs violins in Ljubljana. He does not sell them.
JSON: {"entities":[{"name":"Mirko","type":"person","observations":["Mirko repairs violins in Ljubljana","Mirko does not sell violins"]}],"relations":[]}

Text: Saga and Per work at Fjord Bank. If it grows, Per will lead Project Heron.
JSON: {"entities":[{"name":"Per","type":"person","observations":["Per will lead Project Heron if Fjord Bank grows"]},{"name":"Fjord Bank","type":"organization","observations":[]}],"relations":[{"fromEntity":"Saga","relation":"works_at","toEntity":"Fjord Bank"},{"fromEntity":"Per","relation":"works_at","toEntity":"Fjord Bank"}]}`;

const options = { gpu: false, build: "never", logLevel: "error", maxThreads: 1 };
const llama = await getLlama(options).catch((error) => {
    if (!(error instanceof NoBinaryFoundError)) throw error;
    console.log(`There is no llama.cpp for this machine: ${error.message}`);
    process.exit(0);
});
const model = await llama.loadModel({ modelPath: process.argv[2] });
const context = await model.createContext({ contextSize: 1536, sequences: AT_ONCE, threads: 1 });
const completions = Array.from(
    { length: AT_ONCE }, () => new LlamaCompletion({ contextSequence: context.getSequence() }),
);
const idle = [...completions];
const waiting = [];
const answers = [];

async function answer(completion, { messages, response_format: form }) {
    const schema = form?.json_schema?.schema;
    const grammar = schema && await llama.createGrammarForJsonSchema(schema);
    // A random id encloses a text. With a fixed one the model need not read its task again, and a
    // text has the same answer in each run.
    const [task, text] = messages.map((one) => one.content.replaceAll(/[0-9a-f]{16}/g, "1"));
    const prompt = `${task}\n\n${EXAMPLES}\n\nText: ${text}\nJSON: `;
    const content = await completion.generateCompletion(prompt, {
        maxTokens: MOST_TOKENS, temperature: 0, grammar, repeatPenalty: { penalty: 1.05, lastTokens: 64 },
    });
    answers.push(content);
    const [given, made] = [prompt, content].map((one) => model.tokenize(one).length);
    return {
        id: "1", object: "chat.completion", created: 0, model: "gemma",
        choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
        usage: { prompt_tokens: given, completion_tokens: made, total_tokens: given + made },
    };
}

const server = createServer(async (request, response) => {
    if (request.method === "GET") return response.end(JSON.stringify(answers));
    const parts = [];
    for await (const part of request) parts.push(part);
    const completion = idle.pop() ?? await new Promise((resolve) => waiting.push(resolve));
    let status = 200, body;
    try {
        body = await answer(completion, JSON.parse(Buffer.concat(parts).toString()));
    } catch (error) {
        [status, body] = [400, { error: { message: String(error) } }];
    }
    const next = waiting.shift();
    if (next) next(completion); else idle.push(completion);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/v1`));
process.stdin.resume().on("end", () => process.exit(0));
