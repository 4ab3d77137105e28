"""The Ads API's tools through the official client of the Model Context Protocol, unmodified."""

import asyncio
import json
import unittest

import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

import locum_server


class AdsTools(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = locum_server.Server()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def run_agent(self, agent, **options):
        async def connect():
            authorization = {"Authorization": f"Bearer {self.server.env['USER_TOKEN']}"}
            async with httpx2.AsyncClient(headers=authorization) as http:
                transport = streamable_http_client(f"{self.server.url}/mcp", http_client=http)
                async with Client(transport, **options) as client:
                    return await agent(client)

        return asyncio.run(connect())

    def test_agent_starts_a_campaign(self):
        async def agent(client):
            async def call(tool, **arguments):
                result = await client.call_tool(tool, arguments)
                self.assertFalse(result.is_error, result.content)
                return result.structured_content["data"]

            account = (await call("list_ads_accounts"))[0]["id"]
            funding = (await call("list_funding_instruments", account_id=account))[0]["id"]
            campaign = await call(
                "create_campaign", account_id=account, funding_instrument_id=funding,
                name="By an agent", daily_budget_amount_local_micro=5_000_000,
            )
            self.assertEqual(campaign["entity_status"], "PAUSED")
            started = await call("activate_campaign", account_id=account, campaign_id=campaign["id"])
            self.assertEqual(started["entity_status"], "ACTIVE")
            return client.protocol_version

        self.assertEqual(self.run_agent(agent), "2026-07-28")
        self.assertEqual(self.run_agent(agent, mode="legacy"), "2025-11-25")

    def test_agent_reads_why_a_tool_refuses(self):
        async def agent(client):
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            self.assertIn("account_id", tools["create_campaign"].input_schema["required"])
            return await client.call_tool("list_campaigns", {"account_id": "zzz"})

        result = self.run_agent(agent)
        self.assertTrue(result.is_error)
        self.assertEqual(json.loads(result.content[0].text)["errors"][0]["code"], "ACCOUNT_NOT_FOUND")


if __name__ == "__main__":
    locum_server.main()
