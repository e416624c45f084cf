// A proxy that adds the API key of the environment variable KEY to each request, and changes nothing else, since the
// conformance suite sends no keys. Usage: with_key.mjs TARGET; prints its own address.
import http from "node:http";

const target = new URL(process.argv[2]);
const proxy = http.createServer((request, response) => {
  const headers = { ...request.headers, authorization: `Bearer ${process.env.KEY}` };
  const options = { host: target.hostname, port: target.port, path: target.pathname, method: request.method, headers };
  const forwarded = http.request(options, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  forwarded.on("error", () => response.destroy());
  request.pipe(forwarded);
});
proxy.listen(0, "127.0.0.1", () => {
  console.log(`http://127.0.0.1:${proxy.address().port}/mcp`);
});
