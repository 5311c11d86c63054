import {defineConfig} from "@playwright/test";

// Uses Debian's Chromium, so nothing is downloaded. As root it has no sandbox.
export default defineConfig({
  testDir: "tests",
  // No test depends on elapsed time (except scale.spec.ts), because a busy machine may be slow.
  timeout: 180_000,
  expect: {timeout: Number(process.env["EXPECT_MS"] ?? 30_000)},
  workers: 1,
  reporter: [["list"]],
  outputDir: "../build/page/test-results",
  use: {
    viewport: {width: 1280, height: 800},
    launchOptions: {
      executablePath: process.env["CHROMIUM_BIN"] ?? "/usr/bin/chromium",
      // PAGE_DIST: Chromium must be allowed to open a WebSocket to this machine from a page that no address served.
      args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), ...(process.env["PAGE_DIST"] ? ["--disable-features=LocalNetworkAccessChecks"] : [])],
    },
    screenshot: "only-on-failure",
  },
});
