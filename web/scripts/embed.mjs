// Converts the built page to the input of src/api/page_files.cpp: page_files.bin (all bytes, plain and compressed, in
// sequence) and page_files.inc (their table).
//
//   node scripts/embed.mjs DIST OUT
import {createHash} from "node:crypto";
import {readdirSync, readFileSync, writeFileSync} from "node:fs";
import {join, basename, extname} from "node:path";
import {brotliCompressSync, constants, gzipSync} from "node:zlib";

const kMostBytes = 200 * 1024;  // of the whole page, compressed
const kTypes = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

const [dist, out] = process.argv.slice(2);

function filesUnder(folder) {
  return readdirSync(folder, {withFileTypes: true}).flatMap((entry) =>
    entry.isDirectory() ? filesUnder(join(folder, entry.name)) : [join(folder, entry.name)]);
}

const blocks = [];
let offset = 0;
function place(bytes) {
  const at = `bytes_at(${offset}, ${bytes.length})`;
  blocks.push(bytes);
  offset += bytes.length;
  return at;
}

let transfer = 0;
const rows = filesUnder(dist).sort().map((path) => {
  const type = kTypes[extname(path)];
  if (!type) throw new Error(`embed: no content type is known for ${path}`);
  const plain = readFileSync(path);
  const gzip = gzipSync(plain, {level: 9});
  const brotli = brotliCompressSync(plain, {params: {[constants.BROTLI_PARAM_QUALITY]: 11}});
  transfer += gzip.length;
  const etag = createHash("sha256").update(plain).digest("hex").slice(0, 16);
  return `{"${basename(path)}", "${type}", "\\"${etag}\\"", ${place(plain)}, ${place(gzip)}, ${place(brotli)}},\n`;
});
if (transfer > kMostBytes) {
  throw new Error(`embed: the page is ${transfer} bytes compressed; ${kMostBytes} are allowed`);
}
writeFileSync(join(out, "page_files.bin"), Buffer.concat(blocks));
writeFileSync(join(out, "page_files.inc"), rows.join(""));
console.log(`The page: ${rows.length} files, ${Math.round(transfer / 102.4) / 10} KiB compressed (gzip)`);
