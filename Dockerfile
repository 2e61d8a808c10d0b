# Serves /data over HTTP at port 8931; `docker run -i ... serve /data` does so over stdio. It needs no root and writes nothing:
# `--read-only`, `--cap-drop ALL` and a data folder that is mounted read-only are as it is meant.
#
# `npm run release` makes .release/vitrine.tgz, the only file that is taken from here.
FROM node:24-alpine

LABEL org.opencontainers.image.title="Vitrine" \
      org.opencontainers.image.source="https://github.com/vitrine-mcp/vitrine" \
      org.opencontainers.image.licenses="Apache-2.0" \
      io.modelcontextprotocol.server.name="io.github.vitrine-mcp/vitrine"

# git reads repositories. npm stays, for `RUN npm install -g pg` in an image made from this one, as its user root.
COPY .release/vitrine.tgz /tmp/vitrine.tgz
# hadolint ignore=DL3018
RUN apk add --no-cache git \
 && npm install --global --no-audit --no-fund /tmp/vitrine.tgz \
 && rm -rf /tmp/vitrine.tgz /root/.npm

ENV NODE_ENV=production VITRINE_IMAGE=1
WORKDIR /data
USER 1000:1000
EXPOSE 8931
HEALTHCHECK --interval=30s --timeout=5s --start-period=10s CMD ["node", "-e", "fetch('http://127.0.0.1:8931/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["vitrine"]
CMD ["serve", "/data", "--http", "0.0.0.0:8931", "--allow-remote"]
