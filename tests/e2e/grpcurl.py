"""As much of grpcurl as the documents use: one call through reflection, with its answers as JSON."""

import argparse

import grpc
from google.protobuf import descriptor_pool, json_format, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-plaintext", action="store_true", required=True)
    parser.add_argument("-H", dest="headers", action="append", default=[])
    parser.add_argument("-d", dest="data", default="{}")
    parser.add_argument("address")
    parser.add_argument("method")
    options = parser.parse_args()
    metadata = [tuple(part.strip() for part in header.split(":", 1)) for header in options.headers]
    with grpc.insecure_channel(options.address) as channel:
        service, method = options.method.split("/")
        described = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel)).FindServiceByName(service).FindMethodByName(method)
        request = json_format.Parse(options.data, message_factory.GetMessageClass(described.input_type)())
        call = channel.unary_stream(f"/{options.method}", request_serializer=lambda message: message.SerializeToString(),
                                    response_deserializer=message_factory.GetMessageClass(described.output_type).FromString)
        for answer in call(request, metadata=metadata, timeout=20):
            print(json_format.MessageToJson(answer))


if __name__ == "__main__":
    main()
