// An identity provider: oidc-provider with the settings that docs/connectors.md asks for.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { issuer, resource, scopes, document, redirect } = JSON.parse(process.argv[2]);
const provider = new Provider(issuer, {
  scopes: ["openid", "offline_access", ...scopes],
  pkce: { required: () => true },
  // The document has an https address, and nothing here listens there.
  fetch: async (url, options) =>
    String(url) !== document
      ? fetch(url, options)
      : Response.json({
          client_id: document,
          client_name: "connector",
          redirect_uris: [redirect],
          grant_types: ["authorization_code"],
          response_types: ["code"],
          token_endpoint_auth_method: "none",
        }),
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    clientIdMetadataDocument: { enabled: true, ack: "draft-02" },
    resourceIndicators: {
      enabled: true,
      useGrantedResource: () => true,
      getResourceServerInfo: (_, wanted) => {
        if (wanted !== resource) throw new Error(`unknown resource ${wanted}`);
        return { scope: scopes.join(" "), audience: resource, accessTokenFormat: "jwt" };
      },
    },
  },
});
createServer(provider.callback()).listen(Number(new URL(issuer).port), "127.0.0.1");
