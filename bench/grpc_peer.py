"""A streaming agent for measurements: talks a little all the time, and acknowledges steering at once. Prints its address."""

import asyncio
import json
import sys
import time
from pathlib import Path

import grpc

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "e2e"))
import grpc_proto  # noqa: E402

pb, services = grpc_proto.load()


class Peer(services.AgentServiceServicer):
    async def StreamExecute(self, requests, context):
        number, lock = 0, asyncio.Lock()

        async def send(**payload):
            nonlocal number
            async with lock:
                number += 1
                await context.write(pb.AgentMessage(sequence=number, timestamp_ms=int(time.time() * 1000), trace_id="1" * 32,
                                                    span_id="2" * 16, **payload))

        async def talk(every):
            while True:
                await asyncio.sleep(every)
                await send(output=pb.OutputChunk(content="still at it. "))

        first = await requests.__anext__()
        talking = asyncio.create_task(talk(json.loads(first.start.task_json).get("every", 0.5)))
        await send(status=pb.StatusChange(status=pb.AGENT_STATUS_RUNNING))
        async for request in requests:
            if request.HasField("steering"):
                await send(steering_ack=pb.SteeringAck(message_id=request.steering.id, response="heard"))
            if request.HasField("interrupt"):
                break
        talking.cancel()
        await send(status=pb.StatusChange(status=pb.AGENT_STATUS_COMPLETED))


async def main():
    server = grpc.aio.server()
    services.add_AgentServiceServicer_to_server(Peer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    await server.stop(None)


asyncio.run(main())
