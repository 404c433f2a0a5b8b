# One line per folder:
#   ibpod_library(NAME DEPS base ib LIBS nl-3)   a static library of the folder's *.cc
#   ibpod_program(NAME DEPS ... [STATIC])        a program in bin/
#   ibpod_proto(NAME)                            messages and gRPC stubs of the folder's *.proto
#   ... TESTS ibpod_fake                         what only their tests need
#   ... SLOW x_test.cc                           a test of its own, which runs beside those of the other files
#   ... SINGLE                                   its sources are compiled one by one everywhere: not all of their local names differ
# Files are found by their ending: x_test.cc becomes a unit test beside its code, x_fuzz.cc a fuzz
# target (in the preset fuzz) or a replay of its corpus as a unit test, and x_bench.cc a benchmark.

find_package(PkgConfig REQUIRED)
# pkg_check_modules would ask ten times, a second each: gRPC's package names a hundred others.
execute_process(COMMAND ${PKG_CONFIG_EXECUTABLE} --libs-only-l grpc++ protobuf
  OUTPUT_VARIABLE GRPC_LIBRARIES OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(GRPC_LIBRARIES)
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

# Named as -l, so that static programs take the archives, which need each other in a circle. Few of the
# shared libraries that gRPC's package lists are needed.
add_library(ibpod_grpc INTERFACE)
target_link_libraries(ibpod_grpc INTERFACE
  -Wl,--push-state,--as-needed,--start-group ${GRPC_LIBRARIES} -Wl,--end-group,--pop-state)

function(ibpod_library name)
  cmake_parse_arguments(ARG "SINGLE" "" "DEPS;LIBS;INCLUDES;TESTS;SLOW" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  list(FILTER sources EXCLUDE REGEX "(_(test|fuzz|bench)|/main)\\.cc$")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ibpod_flags ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  target_include_directories(${name} SYSTEM PRIVATE ${ARG_INCLUDES})
  ibpod_compile_as(code ${name})
  if(ARG_SINGLE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  endif()
  ibpod_tests_beside(${name} LIBS ${ARG_TESTS} SLOW ${ARG_SLOW})
endfunction()

# All but main.cc is a library, NAME_logic, for its tests.
function(ibpod_program name)
  cmake_parse_arguments(ARG "STATIC" "" "" ${ARGN})
  ibpod_library(${name}_logic ${ARG_UNPARSED_ARGUMENTS})
  add_executable(${name} main.cc)
  target_link_libraries(${name} PRIVATE ${name}_logic)
  ibpod_compile_as(code ${name})
  # A program for any host, whatever C library that has. Sanitizers cannot be linked statically.
  if(ARG_STATIC AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_link_options(${name} PRIVATE -static -Wl,--gc-sections)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    ibpod_split_symbols(${name})
  endif()
endfunction()

# Installed programs carry no symbols; those of functions and lines stay beside them, for backtraces.
function(ibpod_split_symbols program)
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${program}> $<TARGET_FILE:${program}>.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=$<TARGET_FILE:${program}>.debug $<TARGET_FILE:${program}>)
endfunction()

# A program that must not contain gRPC. Checked where symbols are split off.
function(ibpod_without_grpc program)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_custom_command(TARGET ${program} POST_BUILD
      COMMAND ${CMAKE_SOURCE_DIR}/cmake/without_grpc.sh ${CMAKE_NM} $<TARGET_FILE:${program}>.debug)
  endif()
endfunction()

# Included as "lib/kube/x.pb.h" and "lib/kube/x.grpc.pb.h": by the path of the .proto in the tree.
function(ibpod_proto name)
  set(root ${CMAKE_BINARY_DIR}/proto)
  file(MAKE_DIRECTORY ${root})
  file(GLOB protos CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} *.proto)
  foreach(proto ${protos})
    string(REGEX REPLACE "\\.proto$" "" stem ${root}/${proto})
    set(made ${stem}.pb.cc ${stem}.pb.h ${stem}.grpc.pb.cc ${stem}.grpc.pb.h)
    add_custom_command(OUTPUT ${made} DEPENDS ${CMAKE_SOURCE_DIR}/${proto} VERBATIM
      COMMAND ${PROTOC} --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${root} --grpc_out=${root}
              --plugin=protoc-gen-grpc=${GRPC_PLUGIN} ${proto}
      WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    list(APPEND sources ${made})
  endforeach()
  add_library(${name} STATIC ${sources})
  ibpod_compile_as(generated ${name})
  target_include_directories(${name} SYSTEM PUBLIC ${root})
  target_link_libraries(${name} PUBLIC ibpod_grpc Threads::Threads)
  set_property(GLOBAL APPEND PROPERTY IBPOD_PROTOS ${name})
endfunction()
