import {defineConfig} from "vite";

// `npm run dev` serves the page from its sources, with the API of a running server: SHEPHERD_URL (default
// http://127.0.0.1:8080, started with --auth none).
const server = process.env.SHEPHERD_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  esbuild: {jsx: "automatic", jsxImportSource: "preact"},
  build: {
    target: "es2022",
    emptyOutDir: true,
    assetsInlineLimit: 0,  // no data: URLs, because the CSP does not allow them
    modulePreload: {polyfill: false},
    rollupOptions: {
      output: {
        entryFileNames: "assets/[name]-[hash].js",
        chunkFileNames: "assets/[name]-[hash].js",
        assetFileNames: "assets/[name]-[hash][extname]",
      },
    },
  },
  server: {proxy: {"/api": {target: server, ws: true}, "/health": server, "/sessions": server}},
});
