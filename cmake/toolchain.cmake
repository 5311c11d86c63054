# Compiler flags, ccache and the fast linker. Warnings are errors, because an unfixed warning hides the next one.
find_program(CCACHE ccache)
if(CCACHE)
  # Relative paths let another build directory or clone reuse cached objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
                                  ${CCACHE})
endif()
find_program(MOLD mold)
if(MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Werror -Wnon-virtual-dtor -Woverloaded-virtual
                    -fno-omit-frame-pointer -fdiagnostics-color=auto)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wthread-safety -Wthread-safety-beta)
  # libstdc++ 12 deprecates functions that it uses itself. Members left out of a designated initializer have defaults.
  add_compile_options(-Wno-deprecated-declarations -Wno-missing-designated-field-initializers)
else()
  add_compile_options(-Wshadow=local)
  # g++ 12 reports these inside its own std::string and std::expected when it inlines.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(SHEPHERD_SANITIZE)
  add_compile_options(-fsanitize=${SHEPHERD_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SHEPHERD_SANITIZE})
  if(SHEPHERD_SANITIZE STREQUAL "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # the sanitizer cannot see Asio's fences; its queues also have a mutex
  endif()
endif()
