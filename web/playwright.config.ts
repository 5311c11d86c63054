import {defineConfig} from "@playwright/test";

// Debian's Chromium: nothing is downloaded. As root it has no sandbox to offer.
export default defineConfig({
  testDir: "tests",
  // Nothing is judged by how long it takes to come true (but in scale.spec.ts): a busy machine may take its time.
  timeout: 180_000,
  expect: {timeout: Number(process.env["EXPECT_MS"] ?? 30_000)},
  workers: 1,
  reporter: [["list"]],
  outputDir: "../build/page/test-results",
  use: {
    viewport: {width: 1280, height: 800},
    launchOptions: {
      executablePath: process.env["CHROMIUM_BIN"] ?? "/usr/bin/chromium",
      // PAGE_DIST: a page that no address served may not open a WebSocket to this machine, unless it is allowed to.
      args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...(process.env["PAGE_DIST"] ? ["--disable-features=LocalNetworkAccessChecks"] : [])],
    },
    screenshot: "only-on-failure",
  },
});
