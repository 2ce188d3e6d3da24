// Reads the S3 arguments of `weed server` and serves them with s3rver.
const fs = require("node:fs");
const http = require("node:http");
const S3rver = require("s3rver");
const Account = require("s3rver/lib/models/account");

const given = Object.fromEntries(
  process.argv
    .slice(2)
    .filter((word) => word.startsWith("-") && word.includes("="))
    .map((word) => [word.slice(1, word.indexOf("=")), word.slice(word.indexOf("=") + 1)]),
);
const { identities } = JSON.parse(fs.readFileSync(given["s3.config"], "utf8"));
for (const { accessKey, secretKey } of identities[0].credentials) {
  Account.DUMMY_ACCOUNT.createKeyPair(accessKey, secretKey);
}
Account.DUMMY_ACCOUNT.revokeAccessKey("S3RVER");

const store = new S3rver({ directory: "/data", silent: true, resetOnClose: false, vhostBuckets: false });
store.configureBuckets().then(() => {
  const serve = store.callback();
  http
    .createServer((request, response) => {
      if (request.url === "/healthz") {
        response.end("ok");
      } else {
        serve(request, response);
      }
    })
    .listen(Number(given["s3.port"]), "0.0.0.0");
});
for (const signal of ["SIGTERM", "SIGINT"]) {
  process.on(signal, () => process.exit(0));
}
