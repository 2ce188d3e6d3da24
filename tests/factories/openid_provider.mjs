// A certified OpenID provider (oidc-provider) on a free port of this machine, whose forms let anybody in by name.
// Standard input: {"clients": [...], "people": {name: claims}}. Prints its address when it answers.
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import Provider from "oidc-provider";

const { clients, people } = JSON.parse(await text(process.stdin));
const server = createServer();
server.listen(0, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  const provider = new Provider(issuer, {
    clients,
    claims: { openid: ["sub"], profile: ["name"], email: ["email", "email_verified"], groups: ["groups"] },
    cookies: { keys: ["for tests only"] },
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ ...people[id], sub: id }) }),
  });
  server.on("request", provider.callback());
  process.stdout.write(`${issuer}\n`);
});
