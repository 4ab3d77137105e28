// Reports a suite's results and prints a summary like that of `cargo test`.

export default async function* report(events) {
  const sum = { passed: 0, failed: 0, ignored: 0 };
  const told = new Set();
  for await (const { type, data } of events) {
    if (type === "test:stderr" || type === "test:stdout") yield data.message;
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.details?.type === "suite") continue;
    // A file that fails outside its tests is reported as a test with the file's name.
    const kind = data.skip !== undefined ? "ignored" : type === "test:pass" ? "passed" : "failed";
    sum[kind] += 1;
    const seconds = (data.details.duration_ms / 1000).toFixed(2);
    yield `test ${data.name} ... ${{ passed: "ok", failed: "FAILED", ignored: "ignored" }[kind]} (${seconds} s)\n`;
    if (kind === "failed" && !told.has(data.name)) {
      told.add(data.name);
      const error = data.details.error;
      yield `${error?.cause?.stack ?? error?.stack ?? error}\n`;
    }
  }
  const said = sum.failed === 0 ? "ok" : "FAILED";
  yield `test result: ${said}. ${sum.passed} passed; ${sum.failed} failed; ${sum.ignored} ignored\n`;
}
