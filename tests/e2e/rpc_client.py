"""A gRPC client that discovers the service by reflection. It uses no code that this project generated."""

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

SERVICE = "shepherd.observability.v1.ObservabilityService"


class RpcClient:
    def __init__(self, address, token=None, credentials=None, options=()):
        self.channel = (grpc.secure_channel(address, credentials, options) if credentials
                        else grpc.insecure_channel(address, options))
        self.metadata = [("authorization", f"Bearer {token}")] if token else []
        self.pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(self.channel))
        self.service = self.pool.FindServiceByName(SERVICE)

    def _call(self, method, request, kind, timeout):
        described = self.service.FindMethodByName(method)
        asked = message_factory.GetMessageClass(described.input_type)
        answer = message_factory.GetMessageClass(described.output_type)
        call = getattr(self.channel, kind)(f"/{SERVICE}/{method}", request_serializer=asked.SerializeToString,
                                           response_deserializer=answer.FromString)
        return call(json_format.ParseDict(request, asked()), metadata=self.metadata, timeout=timeout)

    def call(self, method, request=None, timeout=20):
        return self._call(method, request or {}, "unary_unary", timeout)

    def stream(self, request=None, timeout=60):
        """Returns the call, to iterate over or to cancel()."""
        return self._call("StreamEvents", request or {}, "unary_stream", timeout)

    def close(self):
        self.channel.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
