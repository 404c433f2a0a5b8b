# How everything is compiled and linked: what a build tree is for, the flags, and the headers that are compiled once.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
option(IBPOD_FUZZ "Link the fuzz targets with libFuzzer (needs clang)" OFF)
mark_as_advanced(IBPOD_FUZZ)

# Each build tree builds what it is for: release the programs and what runs in the test VM, fuzz the fuzz
# targets, dev, asan, tsan and measure the tests (and the corpora as such).
if(IBPOD_FUZZ)
  set(IBPOD_BUILDS fuzz)
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(IBPOD_BUILDS programs)
else()
  set(IBPOD_BUILDS tests)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Another clone of the same sources is compiled already, wherever it lies.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_SOURCE_DIR}/cmake/ccache.sh ${CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
  else()
    add_compile_options(-fpch-preprocess)
  endif()
endif()
find_program(MOLD mold)
if(MOLD AND NOT CMAKE_CROSSCOMPILING) # a cross compiler looks for one with the name of its target
  add_link_options(-fuse-ld=mold)
endif()
find_package(Threads REQUIRED)

add_library(ibpod_flags INTERFACE)
target_include_directories(ibpod_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(ibpod_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wold-style-cast -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Its C++ library is g++ 12's, which calls what it has deprecated itself.
  target_compile_options(ibpod_flags INTERFACE -Wno-deprecated-declarations)
endif()
target_link_libraries(ibpod_flags INTERFACE Threads::Threads)

if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=thread")
  # With g++: protobuf's classes are larger where the first macro is set than they are in Debian's library. The C++
  # library reads its own.
  add_compile_options(-U__SANITIZE_THREAD__ -D_GLIBCXX_TSAN=1 -DIBPOD_TSAN)
endif()

# Code is of one of three kinds, and each has its options and its precompiled headers. The preset dev precompiles nothing.
set(std <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <deque> <filesystem> <functional> <map>
  <memory> <mutex> <optional> <set> <span> <string> <string_view> <thread> <utility> <variant> <vector>)
set(headers_of_code ${std})
set(headers_of_tests ${std} <doctest/doctest.h>)
set(headers_of_generated ${std} <google/protobuf/message.h> <google/protobuf/map_field_inl.h> <grpcpp/grpcpp.h>
  <grpcpp/support/client_callback.h> <grpcpp/support/server_callback.h>)

function(ibpod_set_options kind target)
  if(kind STREQUAL "tests")
    # Compiled far more often than it runs: no optimisation, unless it measures, and doctest's small assertions.
    target_compile_definitions(${target} PRIVATE DOCTEST_CONFIG_SUPER_FAST_ASSERTS)
    if(NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
      target_compile_options(${target} PRIVATE -O0 -U_FORTIFY_SOURCE)
    endif()
  elseif(kind STREQUAL "generated")
    # By protoc, whose warnings are not ours. Much code, with nothing in it to check: without the sanitizer it takes minutes less.
    # (ThreadSanitizer has to see who calls whom.)
    target_compile_options(${target} PRIVATE -w)
    if(NOT IBPOD_BUILDS STREQUAL "programs" AND NOT CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
      target_compile_options(${target} PRIVATE -O0 -g0 -fno-sanitize=address,undefined)
    endif()
  endif()
endfunction()

foreach(kind IN ITEMS code tests generated)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled/${kind}.cc CONTENT "")
  add_library(precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled/${kind}.cc)
  target_link_libraries(precompiled_${kind} PRIVATE ibpod_flags)
  ibpod_set_options(${kind} precompiled_${kind})
  target_precompile_headers(precompiled_${kind} PRIVATE ${headers_of_${kind}})
endforeach()

# In the presets release, tsan and fuzz the sources of a target are compiled together, where they are code and all their local
# names differ.
function(ibpod_compile_as kind target)
  ibpod_set_options(${kind} ${target})
  target_precompile_headers(${target} REUSE_FROM precompiled_${kind})
  if(NOT kind STREQUAL "code")
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  endif()
endfunction()
