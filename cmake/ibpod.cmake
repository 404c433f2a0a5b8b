# What every target of ibpod shares, and one line per folder:
#   ibpod_library(NAME DEPS base ib LIBS nl-3)   a static library of the folder's *.cc
#   ibpod_program(NAME DEPS ... [STATIC])        a program in bin/
#   ibpod_proto(NAME)                            messages and gRPC stubs of the folder's *.proto
#   ... TESTS ibpod_fake                         what only their tests need
# Files are found by their ending: x_test.cc becomes a unit test beside its code, x_fuzz.cc a fuzz
# target (with clang) or a replay of its corpus as a unit test (with any other compiler), and
# x_bench.cc a benchmark.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
option(IBPOD_FUZZ "Link the fuzz targets with libFuzzer (needs clang)" OFF)
mark_as_advanced(IBPOD_FUZZ)

find_program(CCACHE ccache)
if(CCACHE)
  # Another clone of the same sources is compiled already, wherever it lies.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC REQUIRED grpc++ protobuf)
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_PLUGIN grpc_cpp_plugin REQUIRED)

add_library(ibpod_flags INTERFACE)
target_include_directories(ibpod_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(ibpod_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor)
target_link_libraries(ibpod_flags INTERFACE Threads::Threads)

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # protobuf's classes are larger where this macro is set than they are in Debian's library. The C++ library
  # reads its own.
  add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1 -DIBPOD_TSAN)
endif()

# Named as -l, so that static programs take the archives, which need each other in a circle. Few of the
# shared libraries that gRPC's package lists are needed.
add_library(ibpod_grpc INTERFACE)
target_link_libraries(ibpod_grpc INTERFACE
  -Wl,--push-state,--as-needed,--start-group ${GRPC_LIBRARIES} -Wl,--end-group,--pop-state)

function(ibpod_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;LIBS;INCLUDES;TESTS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ibpod_flags ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  target_include_directories(${name} SYSTEM PRIVATE ${ARG_INCLUDES})
  ibpod_tests_beside(${name} ${ARG_TESTS})
endfunction()

# Included as "lib/kube/x.pb.h" and "lib/kube/x.grpc.pb.h": by the path of the .proto in the tree. What protoc
# writes is not ours to warn of.
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
  target_compile_options(${name} PRIVATE -w)
  if(NOT IBPOD_BUILDS STREQUAL "programs")
    # Much code, and nothing in it to check: minutes less. (ThreadSanitizer has to see who calls whom.)
    target_compile_options(${name} PRIVATE -O0 -g0 -fno-sanitize=address,undefined)
  endif()
  target_include_directories(${name} SYSTEM PUBLIC ${root})
  target_link_libraries(${name} PUBLIC ibpod_grpc Threads::Threads)
  set_property(GLOBAL APPEND PROPERTY IBPOD_PROTOS ${name})
endfunction()

function(ibpod_program name)
  cmake_parse_arguments(ARG "STATIC" "" "DEPS;LIBS;TESTS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  add_library(${name}_logic STATIC ${sources})
  target_link_libraries(${name}_logic PUBLIC ibpod_flags ${ARG_DEPS} PRIVATE ${ARG_LIBS})
  add_executable(${name} main.cc)
  target_link_libraries(${name} PRIVATE ${name}_logic)
  # The CNI plugins run on the host, whatever C library it has. Sanitizers cannot be linked statically.
  if(ARG_STATIC AND CMAKE_BUILD_TYPE STREQUAL "Release")
    target_link_options(${name} PRIVATE -static -Wl,--gc-sections)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    ibpod_split_symbols(${name})
  endif()
  ibpod_tests_beside(${name}_logic ${ARG_TESTS})
endfunction()

# Each build tree builds what it is for: release the programs and what runs in the test VM, fuzz the fuzz
# targets, dev, asan, tsan and measure the tests (and the corpora as such).
if(IBPOD_FUZZ)
  set(IBPOD_BUILDS fuzz)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(IBPOD_BUILDS programs)
else()
  set(IBPOD_BUILDS tests)
endif()

# Registers *_test.cc and *_fuzz.cc of the current folder. More libraries to link may follow.
function(ibpod_tests_beside library)
  file(GLOB tests CONFIGURE_DEPENDS *_test.cc)
  if(tests AND IBPOD_BUILDS STREQUAL "tests")
    ibpod_test(${library}_test SOURCES ${tests} LIBS ${library} ${ARGN} LABEL unit)
  endif()
  file(GLOB targets CONFIGURE_DEPENDS *_fuzz.cc)
  foreach(source ${targets})
    get_filename_component(target ${source} NAME_WE)
    if(NOT IBPOD_BUILDS STREQUAL "programs")
      ibpod_fuzz_target(${target} ${source} ${library})
    endif()
  endforeach()
endfunction()

# The current folder's tests run under ThreadSanitizer, too: the build preset tsan builds these and no others.
add_custom_target(threads)
function(ibpod_has_threads library)
  if(IBPOD_BUILDS STREQUAL "tests")
    get_property(names DIRECTORY PROPERTY TESTS)
    list(FILTER names EXCLUDE REGEX "^corpus\\.")
    set_property(TEST ${names} APPEND PROPERTY LABELS threads)
    add_dependencies(threads ${library}_test)
  endif()
endfunction()

# Test code is compiled far more often than it runs: no optimisation, unless it measures, and doctest's small assertions.
function(ibpod_quick_to_compile target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
  endif()
  target_compile_definitions(${target} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
endfunction()

# A program of doctest cases, run in the repository's root. It is named after its folder.
function(ibpod_test target)
  cmake_parse_arguments(ARG "" "LABEL;NAME" "SOURCES;LIBS" ${ARGN})
  if(NOT ARG_NAME)
    file(RELATIVE_PATH ARG_NAME ${CMAKE_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
    string(REPLACE "/" "." ARG_NAME ${ARG_NAME})
  endif()
  add_executable(${target} ${ARG_SOURCES} ${CMAKE_SOURCE_DIR}/tests/support/doctest_main.cc)
  target_link_libraries(${target} PRIVATE ${ARG_LIBS} ibpod_support)
  ibpod_quick_to_compile(${target})
  add_test(NAME ${ARG_NAME} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT 400 SKIP_RETURN_CODE 77
    ENVIRONMENT "TSAN_OPTIONS=ignore_noninstrumented_modules=1 history_size=7 suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp")
endfunction()

# The build preset fuzz builds these and what they need.
add_custom_target(fuzz_targets)
function(ibpod_fuzz_target target source library)
  string(REGEX REPLACE "_fuzz$" "" corpus ${target})
  add_executable(${target} ${source})
  target_link_libraries(${target} PRIVATE ${library} ibpod_flags)
  add_dependencies(fuzz_targets ${target})
  if(IBPOD_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests/support/replay_corpus.cc)
    add_test(NAME corpus.${corpus} COMMAND ${target} tests/data/fuzz/${corpus}
             WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    set_tests_properties(corpus.${corpus} PROPERTIES LABELS unit TIMEOUT 120)
  endif()
endfunction()

# What is installed carries no symbols; they stay beside it for a debugger.
function(ibpod_split_symbols program)
  add_custom_command(TARGET ${program} POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${program}> $<TARGET_FILE:${program}>.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-all --add-gnu-debuglink=$<TARGET_FILE:${program}>.debug $<TARGET_FILE:${program}>)
endfunction()
