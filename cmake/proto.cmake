# shepherd_proto(NAME agent_proto FILE gibson/agent.proto)
#
# Turns one protocol file from proto/ into two static libraries: NAME has its messages, and NAME_service also its gRPC
# service. The generated code is in the build tree and compiled without our warnings. Include it as "gibson/agent.pb.h".
function(shepherd_proto)
  cmake_parse_arguments(P "" "NAME;FILE" "" ${ARGN})
  set(proto_dir ${PROJECT_SOURCE_DIR}/proto)
  set(out_dir ${PROJECT_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${out_dir})
  string(REGEX REPLACE "\\.proto$" "" stem ${out_dir}/${P_FILE})
  add_custom_command(
    OUTPUT ${stem}.pb.h ${stem}.pb.cc ${stem}.grpc.pb.h ${stem}.grpc.pb.cc
    COMMAND protobuf::protoc --proto_path=${proto_dir} --cpp_out=${out_dir} --grpc_out=${out_dir}
            --plugin=protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin> ${proto_dir}/${P_FILE}
    DEPENDS ${proto_dir}/${P_FILE}
    VERBATIM)
  add_library(${P_NAME} STATIC ${stem}.pb.cc ${stem}.pb.h)
  add_library(${P_NAME}_service STATIC ${stem}.grpc.pb.cc ${stem}.grpc.pb.h)
  target_link_libraries(${P_NAME} PUBLIC protobuf::libprotobuf)
  target_link_libraries(${P_NAME}_service PUBLIC ${P_NAME} gRPC::grpc++)
  foreach(library ${P_NAME} ${P_NAME}_service)
    target_include_directories(${library} SYSTEM PUBLIC ${out_dir})
    target_compile_options(${library} PRIVATE -w)
  endforeach()
endfunction()
