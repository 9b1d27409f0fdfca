module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x3x128x128xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<3x3x128x128xf32> {tf.aliasing_output = 1 : i32}, %arg2: tensor<3x3x128x512xf32> {tf.aliasing_output = 2 : i32}, %arg3: tensor<3x3x256x128xf32> {tf.aliasing_output = 3 : i32}, %arg4: tensor<3x3x128x4xf32> {tf.aliasing_output = 4 : i32}, %arg5: tensor<3x3x512x512xf32> {tf.aliasing_output = 5 : i32}, %arg6: tensor<3x3x512x512xf32> {tf.aliasing_output = 6 : i32}, %arg7: tensor<3x3x4x128xf32> {tf.aliasing_output = 7 : i32}, %arg8: tensor<3x3x512x128xf32> {tf.aliasing_output = 8 : i32}, %arg9: tensor<3x3x128x128xf32> {tf.aliasing_output = 9 : i32}, %arg10: tensor<3x3x128x128xf32> {tf.aliasing_output = 10 : i32}, %arg11: tensor<3x3x128x512xf32> {tf.aliasing_output = 11 : i32}, %arg12: tensor<3x3x256x128xf32> {tf.aliasing_output = 12 : i32}, %arg13: tensor<3x3x128x4xf32> {tf.aliasing_output = 13 : i32}, %arg14: tensor<3x3x512x512xf32> {tf.aliasing_output = 14 : i32}, %arg15: tensor<3x3x512x512xf32> {tf.aliasing_output = 15 : i32}, %arg16: tensor<3x3x4x128xf32> {tf.aliasing_output = 16 : i32}, %arg17: tensor<3x3x512x128xf32> {tf.aliasing_output = 17 : i32}, %arg18: tensor<3x3x128x128xf32> {tf.aliasing_output = 18 : i32}, %arg19: tensor<3x3x128x128xf32> {tf.aliasing_output = 19 : i32}, %arg20: tensor<3x3x128x512xf32> {tf.aliasing_output = 20 : i32}, %arg21: tensor<3x3x256x128xf32> {tf.aliasing_output = 21 : i32}, %arg22: tensor<3x3x128x4xf32> {tf.aliasing_output = 22 : i32}, %arg23: tensor<3x3x512x512xf32> {tf.aliasing_output = 23 : i32}, %arg24: tensor<3x3x512x512xf32> {tf.aliasing_output = 24 : i32}, %arg25: tensor<3x3x4x128xf32> {tf.aliasing_output = 25 : i32}, %arg26: tensor<3x3x512x128xf32> {tf.aliasing_output = 26 : i32}, %arg27: tensor<32x64x64x4xf32>, %arg28: tensor<32x64x64x4xf32>) -> (tensor<3x3x128x128xf32> {jax.result_info = "result[0][0]['a1']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0][0]['a2']"}, tensor<3x3x128x512xf32> {jax.result_info = "result[0][0]['down']"}, tensor<3x3x256x128xf32> {jax.result_info = "result[0][0]['f1']"}, tensor<3x3x128x4xf32> {jax.result_info = "result[0][0]['f2']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0][0]['m1']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0][0]['m2']"}, tensor<3x3x4x128xf32> {jax.result_info = "result[0][0]['stem']"}, tensor<3x3x512x128xf32> {jax.result_info = "result[0][0]['up']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0][1]['a1']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0][1]['a2']"}, tensor<3x3x128x512xf32> {jax.result_info = "result[0][1]['down']"}, tensor<3x3x256x128xf32> {jax.result_info = "result[0][1]['f1']"}, tensor<3x3x128x4xf32> {jax.result_info = "result[0][1]['f2']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0][1]['m1']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0][1]['m2']"}, tensor<3x3x4x128xf32> {jax.result_info = "result[0][1]['stem']"}, tensor<3x3x512x128xf32> {jax.result_info = "result[0][1]['up']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0][2]['a1']"}, tensor<3x3x128x128xf32> {jax.result_info = "result[0][2]['a2']"}, tensor<3x3x128x512xf32> {jax.result_info = "result[0][2]['down']"}, tensor<3x3x256x128xf32> {jax.result_info = "result[0][2]['f1']"}, tensor<3x3x128x4xf32> {jax.result_info = "result[0][2]['f2']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0][2]['m1']"}, tensor<3x3x512x512xf32> {jax.result_info = "result[0][2]['m2']"}, tensor<3x3x4x128xf32> {jax.result_info = "result[0][2]['stem']"}, tensor<3x3x512x128xf32> {jax.result_info = "result[0][2]['up']"}, tensor<f32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg27 : (tensor<32x64x64x4xf32>) -> tensor<32x64x64x4xbf16>
    %1 = stablehlo.convert %arg7 : (tensor<3x3x4x128xf32>) -> tensor<3x3x4x128xbf16>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x4xbf16>, tensor<3x3x4x128xbf16>) -> tensor<32x64x64x128xbf16>
    %3 = stablehlo.reshape %2 : (tensor<32x64x64x128xbf16>) -> tensor<32x64x64x32x4xbf16>
    %4 = stablehlo.convert %3 : (tensor<32x64x64x32x4xbf16>) -> tensor<32x64x64x32x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %cst) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_0 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %8 = stablehlo.divide %6, %7 : tensor<32x1x1x32x1xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %10 = stablehlo.subtract %4, %9 : tensor<32x64x64x32x4xf32>
    %11 = chlo.square %10 : tensor<32x64x64x32x4xf32> -> tensor<32x64x64x32x4xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x64x64x32x4xf32>
    %13 = stablehlo.multiply %12, %10 : tensor<32x64x64x32x4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %14 = stablehlo.reduce(%11 init: %cst_2) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_3 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %17 = stablehlo.divide %15, %16 : tensor<32x1x1x32x1xf32>
    %18 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %19 = stablehlo.subtract %4, %18 : tensor<32x64x64x32x4xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %20 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %21 = stablehlo.add %17, %20 : tensor<32x1x1x32x1xf32>
    %22 = stablehlo.rsqrt %21 : tensor<32x1x1x32x1xf32>
    %23 = stablehlo.divide %22, %21 : tensor<32x1x1x32x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %25 = stablehlo.multiply %24, %23 : tensor<32x1x1x32x1xf32>
    %26 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %27 = stablehlo.multiply %19, %26 : tensor<32x64x64x32x4xf32>
    %28 = stablehlo.reshape %27 : (tensor<32x64x64x32x4xf32>) -> tensor<32x64x64x128xf32>
    %29 = stablehlo.convert %28 : (tensor<32x64x64x128xf32>) -> tensor<32x64x64x128xbf16>
    %30:3 = call @silu(%29) : (tensor<32x64x64x128xbf16>) -> (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>)
    %31 = stablehlo.convert %arg0 : (tensor<3x3x128x128xf32>) -> tensor<3x3x128x128xbf16>
    %32 = stablehlo.convolution(%30#0, %31) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x128x128xbf16>) -> tensor<32x64x64x128xbf16>
    %33 = stablehlo.reshape %32 : (tensor<32x64x64x128xbf16>) -> tensor<32x64x64x32x4xbf16>
    %34 = stablehlo.convert %33 : (tensor<32x64x64x32x4xbf16>) -> tensor<32x64x64x32x4xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_6) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %36 = stablehlo.broadcast_in_dim %35, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_7 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %38 = stablehlo.divide %36, %37 : tensor<32x1x1x32x1xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %40 = stablehlo.subtract %34, %39 : tensor<32x64x64x32x4xf32>
    %41 = chlo.square %40 : tensor<32x64x64x32x4xf32> -> tensor<32x64x64x32x4xf32>
    %cst_8 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x64x64x32x4xf32>
    %43 = stablehlo.multiply %42, %40 : tensor<32x64x64x32x4xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %44 = stablehlo.reduce(%41 init: %cst_9) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %45 = stablehlo.broadcast_in_dim %44, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_10 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %47 = stablehlo.divide %45, %46 : tensor<32x1x1x32x1xf32>
    %48 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %49 = stablehlo.subtract %34, %48 : tensor<32x64x64x32x4xf32>
    %cst_11 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %51 = stablehlo.add %47, %50 : tensor<32x1x1x32x1xf32>
    %52 = stablehlo.rsqrt %51 : tensor<32x1x1x32x1xf32>
    %53 = stablehlo.divide %52, %51 : tensor<32x1x1x32x1xf32>
    %cst_12 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %55 = stablehlo.multiply %54, %53 : tensor<32x1x1x32x1xf32>
    %56 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %57 = stablehlo.multiply %49, %56 : tensor<32x64x64x32x4xf32>
    %58 = stablehlo.reshape %57 : (tensor<32x64x64x32x4xf32>) -> tensor<32x64x64x128xf32>
    %59 = stablehlo.convert %58 : (tensor<32x64x64x128xf32>) -> tensor<32x64x64x128xbf16>
    %60:3 = call @silu(%59) : (tensor<32x64x64x128xbf16>) -> (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>)
    %61 = stablehlo.convert %arg1 : (tensor<3x3x128x128xf32>) -> tensor<3x3x128x128xbf16>
    %62 = stablehlo.convolution(%60#0, %61) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x128x128xbf16>) -> tensor<32x64x64x128xbf16>
    %63 = stablehlo.add %2, %62 : tensor<32x64x64x128xbf16>
    %64 = stablehlo.convert %arg2 : (tensor<3x3x128x512xf32>) -> tensor<3x3x128x512xbf16>
    %65 = stablehlo.convolution(%63, %64) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x128x512xbf16>) -> tensor<32x32x32x512xbf16>
    %66 = stablehlo.reshape %65 : (tensor<32x32x32x512xbf16>) -> tensor<32x32x32x32x16xbf16>
    %67 = stablehlo.convert %66 : (tensor<32x32x32x32x16xbf16>) -> tensor<32x32x32x32x16xf32>
    %cst_13 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_13) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_14 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %70 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %71 = stablehlo.divide %69, %70 : tensor<32x1x1x32x1xf32>
    %72 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %73 = stablehlo.subtract %67, %72 : tensor<32x32x32x32x16xf32>
    %74 = chlo.square %73 : tensor<32x32x32x32x16xf32> -> tensor<32x32x32x32x16xf32>
    %cst_15 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x32x32x32x16xf32>
    %76 = stablehlo.multiply %75, %73 : tensor<32x32x32x32x16xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %77 = stablehlo.reduce(%74 init: %cst_16) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %78 = stablehlo.broadcast_in_dim %77, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_17 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %80 = stablehlo.divide %78, %79 : tensor<32x1x1x32x1xf32>
    %81 = stablehlo.broadcast_in_dim %71, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %82 = stablehlo.subtract %67, %81 : tensor<32x32x32x32x16xf32>
    %cst_18 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %84 = stablehlo.add %80, %83 : tensor<32x1x1x32x1xf32>
    %85 = stablehlo.rsqrt %84 : tensor<32x1x1x32x1xf32>
    %86 = stablehlo.divide %85, %84 : tensor<32x1x1x32x1xf32>
    %cst_19 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %87 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %88 = stablehlo.multiply %87, %86 : tensor<32x1x1x32x1xf32>
    %89 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %90 = stablehlo.multiply %82, %89 : tensor<32x32x32x32x16xf32>
    %91 = stablehlo.reshape %90 : (tensor<32x32x32x32x16xf32>) -> tensor<32x32x32x512xf32>
    %92 = stablehlo.convert %91 : (tensor<32x32x32x512xf32>) -> tensor<32x32x32x512xbf16>
    %93:3 = call @silu_0(%92) : (tensor<32x32x32x512xbf16>) -> (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>)
    %94 = stablehlo.convert %arg5 : (tensor<3x3x512x512xf32>) -> tensor<3x3x512x512xbf16>
    %95 = stablehlo.convolution(%93#0, %94) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<3x3x512x512xbf16>) -> tensor<32x32x32x512xbf16>
    %96 = stablehlo.reshape %95 : (tensor<32x32x32x512xbf16>) -> tensor<32x32x32x32x16xbf16>
    %97 = stablehlo.convert %96 : (tensor<32x32x32x32x16xbf16>) -> tensor<32x32x32x32x16xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %98 = stablehlo.reduce(%97 init: %cst_20) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %99 = stablehlo.broadcast_in_dim %98, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_21 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %101 = stablehlo.divide %99, %100 : tensor<32x1x1x32x1xf32>
    %102 = stablehlo.broadcast_in_dim %101, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %103 = stablehlo.subtract %97, %102 : tensor<32x32x32x32x16xf32>
    %104 = chlo.square %103 : tensor<32x32x32x32x16xf32> -> tensor<32x32x32x32x16xf32>
    %cst_22 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<32x32x32x32x16xf32>
    %106 = stablehlo.multiply %105, %103 : tensor<32x32x32x32x16xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %107 = stablehlo.reduce(%104 init: %cst_23) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %108 = stablehlo.broadcast_in_dim %107, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_24 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %109 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %110 = stablehlo.divide %108, %109 : tensor<32x1x1x32x1xf32>
    %111 = stablehlo.broadcast_in_dim %101, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %112 = stablehlo.subtract %97, %111 : tensor<32x32x32x32x16xf32>
    %cst_25 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %114 = stablehlo.add %110, %113 : tensor<32x1x1x32x1xf32>
    %115 = stablehlo.rsqrt %114 : tensor<32x1x1x32x1xf32>
    %116 = stablehlo.divide %115, %114 : tensor<32x1x1x32x1xf32>
    %cst_26 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %118 = stablehlo.multiply %117, %116 : tensor<32x1x1x32x1xf32>
    %119 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %120 = stablehlo.multiply %112, %119 : tensor<32x32x32x32x16xf32>
    %121 = stablehlo.reshape %120 : (tensor<32x32x32x32x16xf32>) -> tensor<32x32x32x512xf32>
    %122 = stablehlo.convert %121 : (tensor<32x32x32x512xf32>) -> tensor<32x32x32x512xbf16>
    %123:3 = call @silu_0(%122) : (tensor<32x32x32x512xbf16>) -> (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>)
    %124 = stablehlo.convert %arg6 : (tensor<3x3x512x512xf32>) -> tensor<3x3x512x512xbf16>
    %125 = stablehlo.convolution(%123#0, %124) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<3x3x512x512xbf16>) -> tensor<32x32x32x512xbf16>
    %126 = stablehlo.add %65, %125 : tensor<32x32x32x512xbf16>
    %127 = stablehlo.broadcast_in_dim %126, dims = [0, 1, 3, 4] : (tensor<32x32x32x512xbf16>) -> tensor<32x32x2x32x512xbf16>
    %128 = stablehlo.reshape %127 : (tensor<32x32x2x32x512xbf16>) -> tensor<32x64x32x512xbf16>
    %129 = stablehlo.broadcast_in_dim %128, dims = [0, 1, 2, 4] : (tensor<32x64x32x512xbf16>) -> tensor<32x64x32x2x512xbf16>
    %130 = stablehlo.reshape %129 : (tensor<32x64x32x2x512xbf16>) -> tensor<32x64x64x512xbf16>
    %131 = stablehlo.convert %arg8 : (tensor<3x3x512x128xf32>) -> tensor<3x3x512x128xbf16>
    %132 = stablehlo.convolution(%130, %131) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x512xbf16>, tensor<3x3x512x128xbf16>) -> tensor<32x64x64x128xbf16>
    %133 = stablehlo.concatenate %132, %63, dim = 3 : (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) -> tensor<32x64x64x256xbf16>
    %134 = stablehlo.convert %arg3 : (tensor<3x3x256x128xf32>) -> tensor<3x3x256x128xbf16>
    %135 = stablehlo.convolution(%133, %134) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x256xbf16>, tensor<3x3x256x128xbf16>) -> tensor<32x64x64x128xbf16>
    %136 = stablehlo.reshape %135 : (tensor<32x64x64x128xbf16>) -> tensor<32x64x64x32x4xbf16>
    %137 = stablehlo.convert %136 : (tensor<32x64x64x32x4xbf16>) -> tensor<32x64x64x32x4xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %138 = stablehlo.reduce(%137 init: %cst_27) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %139 = stablehlo.broadcast_in_dim %138, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_28 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %140 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %141 = stablehlo.divide %139, %140 : tensor<32x1x1x32x1xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %143 = stablehlo.subtract %137, %142 : tensor<32x64x64x32x4xf32>
    %144 = chlo.square %143 : tensor<32x64x64x32x4xf32> -> tensor<32x64x64x32x4xf32>
    %cst_29 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %145 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<32x64x64x32x4xf32>
    %146 = stablehlo.multiply %145, %143 : tensor<32x64x64x32x4xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %147 = stablehlo.reduce(%144 init: %cst_30) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %148 = stablehlo.broadcast_in_dim %147, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_31 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %149 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %150 = stablehlo.divide %148, %149 : tensor<32x1x1x32x1xf32>
    %151 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %152 = stablehlo.subtract %137, %151 : tensor<32x64x64x32x4xf32>
    %cst_32 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %153 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %154 = stablehlo.add %150, %153 : tensor<32x1x1x32x1xf32>
    %155 = stablehlo.rsqrt %154 : tensor<32x1x1x32x1xf32>
    %156 = stablehlo.divide %155, %154 : tensor<32x1x1x32x1xf32>
    %cst_33 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %157 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %158 = stablehlo.multiply %157, %156 : tensor<32x1x1x32x1xf32>
    %159 = stablehlo.broadcast_in_dim %155, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %160 = stablehlo.multiply %152, %159 : tensor<32x64x64x32x4xf32>
    %161 = stablehlo.reshape %160 : (tensor<32x64x64x32x4xf32>) -> tensor<32x64x64x128xf32>
    %162 = stablehlo.convert %161 : (tensor<32x64x64x128xf32>) -> tensor<32x64x64x128xbf16>
    %163:3 = call @silu(%162) : (tensor<32x64x64x128xbf16>) -> (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>)
    %164 = stablehlo.convert %arg4 : (tensor<3x3x128x4xf32>) -> tensor<3x3x128x4xbf16>
    %165 = stablehlo.convolution(%163#0, %164) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x128x4xbf16>) -> tensor<32x64x64x4xbf16>
    %166 = stablehlo.convert %165 : (tensor<32x64x64x4xbf16>) -> tensor<32x64x64x4xf32>
    %167 = stablehlo.subtract %166, %arg28 : tensor<32x64x64x4xf32>
    %168 = chlo.square %167 : tensor<32x64x64x4xf32> -> tensor<32x64x64x4xf32>
    %cst_34 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<32x64x64x4xf32>
    %170 = stablehlo.multiply %169, %167 : tensor<32x64x64x4xf32>
    %cst_35 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %171 = stablehlo.reduce(%168 init: %cst_35) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<32x64x64x4xf32>, tensor<f32>) -> tensor<f32>
    %cst_36 = stablehlo.constant dense<5.242880e+05> : tensor<f32>
    %172 = stablehlo.divide %171, %cst_36 : tensor<f32>
    %cst_37 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_38 = stablehlo.constant dense<5.242880e+05> : tensor<f32>
    %173 = stablehlo.divide %cst_37, %cst_38 : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %173, dims = [] : (tensor<f32>) -> tensor<32x64x64x4xf32>
    %175 = stablehlo.multiply %174, %170 : tensor<32x64x64x4xf32>
    %176 = stablehlo.convert %175 : (tensor<32x64x64x4xf32>) -> tensor<32x64x64x4xbf16>
    %177 = stablehlo.convolution(%163#0, %176) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<32x64x64x4xbf16>) -> tensor<3x3x128x4xbf16>
    %178 = stablehlo.reverse %164, dims = [0, 1] : tensor<3x3x128x4xbf16>
    %179 = stablehlo.convolution(%176, %178) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x4xbf16>, tensor<3x3x128x4xbf16>) -> tensor<32x64x64x128xbf16>
    %180 = stablehlo.convert %177 : (tensor<3x3x128x4xbf16>) -> tensor<3x3x128x4xf32>
    %181 = call @silu_1(%163#1, %163#2, %162, %179) : (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xbf16>
    %182 = stablehlo.convert %181 : (tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xf32>
    %183 = stablehlo.reshape %182 : (tensor<32x64x64x128xf32>) -> tensor<32x64x64x32x4xf32>
    %184 = stablehlo.multiply %152, %183 : tensor<32x64x64x32x4xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %185 = stablehlo.reduce(%184 init: %cst_39) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %186 = stablehlo.reshape %185 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %187 = stablehlo.broadcast_in_dim %155, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %188 = stablehlo.multiply %183, %187 : tensor<32x64x64x32x4xf32>
    %189 = stablehlo.multiply %186, %158 : tensor<32x1x1x32x1xf32>
    %190 = stablehlo.negate %188 : tensor<32x64x64x32x4xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %191 = stablehlo.reduce(%190 init: %cst_40) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %192 = stablehlo.reshape %191 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_41 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %194 = stablehlo.divide %189, %193 : tensor<32x1x1x32x1xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %195 = stablehlo.reduce(%194 init: %cst_42) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %196 = stablehlo.broadcast_in_dim %195, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x64x64x32x4xf32>
    %197 = stablehlo.multiply %196, %146 : tensor<32x64x64x32x4xf32>
    %198 = stablehlo.negate %197 : tensor<32x64x64x32x4xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %199 = stablehlo.reduce(%198 init: %cst_43) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %200 = stablehlo.reshape %199 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %201 = stablehlo.add %188, %197 : tensor<32x64x64x32x4xf32>
    %202 = stablehlo.add %192, %200 : tensor<32x1x1x32x1xf32>
    %cst_44 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %203 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %204 = stablehlo.divide %202, %203 : tensor<32x1x1x32x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %205 = stablehlo.reduce(%204 init: %cst_45) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %206 = stablehlo.broadcast_in_dim %205, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x64x64x32x4xf32>
    %207 = stablehlo.add %201, %206 : tensor<32x64x64x32x4xf32>
    %208 = stablehlo.convert %207 : (tensor<32x64x64x32x4xf32>) -> tensor<32x64x64x32x4xbf16>
    %209 = stablehlo.reshape %208 : (tensor<32x64x64x32x4xbf16>) -> tensor<32x64x64x128xbf16>
    %210 = stablehlo.convolution(%133, %209) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x256xbf16>, tensor<32x64x64x128xbf16>) -> tensor<3x3x256x128xbf16>
    %211 = stablehlo.reverse %134, dims = [0, 1] : tensor<3x3x256x128xbf16>
    %212 = stablehlo.convolution(%209, %211) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x256x128xbf16>) -> tensor<32x64x64x256xbf16>
    %213 = stablehlo.convert %210 : (tensor<3x3x256x128xbf16>) -> tensor<3x3x256x128xf32>
    %214 = stablehlo.slice %212 [0:32, 0:64, 0:64, 0:128] : (tensor<32x64x64x256xbf16>) -> tensor<32x64x64x128xbf16>
    %215 = stablehlo.slice %212 [0:32, 0:64, 0:64, 128:256] : (tensor<32x64x64x256xbf16>) -> tensor<32x64x64x128xbf16>
    %216 = stablehlo.convolution(%130, %214) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x512xbf16>, tensor<32x64x64x128xbf16>) -> tensor<3x3x512x128xbf16>
    %217 = stablehlo.reverse %131, dims = [0, 1] : tensor<3x3x512x128xbf16>
    %218 = stablehlo.convolution(%214, %217) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x512x128xbf16>) -> tensor<32x64x64x512xbf16>
    %219 = stablehlo.convert %216 : (tensor<3x3x512x128xbf16>) -> tensor<3x3x512x128xf32>
    %220 = stablehlo.reshape %218 : (tensor<32x64x64x512xbf16>) -> tensor<32x64x32x2x512xbf16>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %221 = stablehlo.reduce(%220 init: %cst_46) applies stablehlo.add across dimensions = [3] : (tensor<32x64x32x2x512xbf16>, tensor<bf16>) -> tensor<32x64x32x512xbf16>
    %222 = stablehlo.reshape %221 : (tensor<32x64x32x512xbf16>) -> tensor<32x32x2x32x512xbf16>
    %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %223 = stablehlo.reduce(%222 init: %cst_47) applies stablehlo.add across dimensions = [2] : (tensor<32x32x2x32x512xbf16>, tensor<bf16>) -> tensor<32x32x32x512xbf16>
    %224 = stablehlo.convolution(%123#0, %223) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>) -> tensor<3x3x512x512xbf16>
    %225 = stablehlo.reverse %124, dims = [0, 1] : tensor<3x3x512x512xbf16>
    %226 = stablehlo.convolution(%223, %225) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<3x3x512x512xbf16>) -> tensor<32x32x32x512xbf16>
    %227 = stablehlo.convert %224 : (tensor<3x3x512x512xbf16>) -> tensor<3x3x512x512xf32>
    %228 = call @silu_2(%123#1, %123#2, %122, %226) : (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>) -> tensor<32x32x32x512xbf16>
    %229 = stablehlo.convert %228 : (tensor<32x32x32x512xbf16>) -> tensor<32x32x32x512xf32>
    %230 = stablehlo.reshape %229 : (tensor<32x32x32x512xf32>) -> tensor<32x32x32x32x16xf32>
    %231 = stablehlo.multiply %112, %230 : tensor<32x32x32x32x16xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %232 = stablehlo.reduce(%231 init: %cst_48) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %233 = stablehlo.reshape %232 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %234 = stablehlo.broadcast_in_dim %115, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %235 = stablehlo.multiply %230, %234 : tensor<32x32x32x32x16xf32>
    %236 = stablehlo.multiply %233, %118 : tensor<32x1x1x32x1xf32>
    %237 = stablehlo.negate %235 : tensor<32x32x32x32x16xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %238 = stablehlo.reduce(%237 init: %cst_49) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %239 = stablehlo.reshape %238 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_50 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %240 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %241 = stablehlo.divide %236, %240 : tensor<32x1x1x32x1xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %242 = stablehlo.reduce(%241 init: %cst_51) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %243 = stablehlo.broadcast_in_dim %242, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x32x32x32x16xf32>
    %244 = stablehlo.multiply %243, %106 : tensor<32x32x32x32x16xf32>
    %245 = stablehlo.negate %244 : tensor<32x32x32x32x16xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %246 = stablehlo.reduce(%245 init: %cst_52) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %247 = stablehlo.reshape %246 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %248 = stablehlo.add %235, %244 : tensor<32x32x32x32x16xf32>
    %249 = stablehlo.add %239, %247 : tensor<32x1x1x32x1xf32>
    %cst_53 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %251 = stablehlo.divide %249, %250 : tensor<32x1x1x32x1xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %252 = stablehlo.reduce(%251 init: %cst_54) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %253 = stablehlo.broadcast_in_dim %252, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x32x32x32x16xf32>
    %254 = stablehlo.add %248, %253 : tensor<32x32x32x32x16xf32>
    %255 = stablehlo.convert %254 : (tensor<32x32x32x32x16xf32>) -> tensor<32x32x32x32x16xbf16>
    %256 = stablehlo.reshape %255 : (tensor<32x32x32x32x16xbf16>) -> tensor<32x32x32x512xbf16>
    %257 = stablehlo.convolution(%93#0, %256) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>) -> tensor<3x3x512x512xbf16>
    %258 = stablehlo.reverse %94, dims = [0, 1] : tensor<3x3x512x512xbf16>
    %259 = stablehlo.convolution(%256, %258) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<3x3x512x512xbf16>) -> tensor<32x32x32x512xbf16>
    %260 = stablehlo.convert %257 : (tensor<3x3x512x512xbf16>) -> tensor<3x3x512x512xf32>
    %261 = call @silu_2(%93#1, %93#2, %92, %259) : (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>) -> tensor<32x32x32x512xbf16>
    %262 = stablehlo.convert %261 : (tensor<32x32x32x512xbf16>) -> tensor<32x32x32x512xf32>
    %263 = stablehlo.reshape %262 : (tensor<32x32x32x512xf32>) -> tensor<32x32x32x32x16xf32>
    %264 = stablehlo.multiply %82, %263 : tensor<32x32x32x32x16xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %265 = stablehlo.reduce(%264 init: %cst_55) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %266 = stablehlo.reshape %265 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %267 = stablehlo.broadcast_in_dim %85, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x32x32x32x16xf32>
    %268 = stablehlo.multiply %263, %267 : tensor<32x32x32x32x16xf32>
    %269 = stablehlo.multiply %266, %88 : tensor<32x1x1x32x1xf32>
    %270 = stablehlo.negate %268 : tensor<32x32x32x32x16xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %271 = stablehlo.reduce(%270 init: %cst_56) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %272 = stablehlo.reshape %271 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_57 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %273 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %274 = stablehlo.divide %269, %273 : tensor<32x1x1x32x1xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %275 = stablehlo.reduce(%274 init: %cst_58) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %276 = stablehlo.broadcast_in_dim %275, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x32x32x32x16xf32>
    %277 = stablehlo.multiply %276, %76 : tensor<32x32x32x32x16xf32>
    %278 = stablehlo.negate %277 : tensor<32x32x32x32x16xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %279 = stablehlo.reduce(%278 init: %cst_59) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x32x32x32x16xf32>, tensor<f32>) -> tensor<32x32xf32>
    %280 = stablehlo.reshape %279 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %281 = stablehlo.add %268, %277 : tensor<32x32x32x32x16xf32>
    %282 = stablehlo.add %272, %280 : tensor<32x1x1x32x1xf32>
    %cst_60 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %283 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %284 = stablehlo.divide %282, %283 : tensor<32x1x1x32x1xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %285 = stablehlo.reduce(%284 init: %cst_61) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %286 = stablehlo.broadcast_in_dim %285, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x32x32x32x16xf32>
    %287 = stablehlo.add %281, %286 : tensor<32x32x32x32x16xf32>
    %288 = stablehlo.convert %287 : (tensor<32x32x32x32x16xf32>) -> tensor<32x32x32x32x16xbf16>
    %289 = stablehlo.reshape %288 : (tensor<32x32x32x32x16xbf16>) -> tensor<32x32x32x512xbf16>
    %290 = stablehlo.add %223, %289 : tensor<32x32x32x512xbf16>
    %291 = stablehlo.convolution(%63, %290) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<32x32x32x512xbf16>) -> tensor<3x3x128x512xbf16>
    %292 = stablehlo.reverse %64, dims = [0, 1] : tensor<3x3x128x512xbf16>
    %293 = stablehlo.convolution(%290, %292) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 1], [2, 1]], lhs_dilate = [2, 2], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x32x32x512xbf16>, tensor<3x3x128x512xbf16>) -> tensor<32x64x64x128xbf16>
    %294 = stablehlo.add %215, %293 : tensor<32x64x64x128xbf16>
    %295 = stablehlo.convert %291 : (tensor<3x3x128x512xbf16>) -> tensor<3x3x128x512xf32>
    %296 = stablehlo.convolution(%60#0, %294) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) -> tensor<3x3x128x128xbf16>
    %297 = stablehlo.reverse %61, dims = [0, 1] : tensor<3x3x128x128xbf16>
    %298 = stablehlo.convolution(%294, %297) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x128x128xbf16>) -> tensor<32x64x64x128xbf16>
    %299 = stablehlo.convert %296 : (tensor<3x3x128x128xbf16>) -> tensor<3x3x128x128xf32>
    %300 = call @silu_1(%60#1, %60#2, %59, %298) : (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xbf16>
    %301 = stablehlo.convert %300 : (tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xf32>
    %302 = stablehlo.reshape %301 : (tensor<32x64x64x128xf32>) -> tensor<32x64x64x32x4xf32>
    %303 = stablehlo.multiply %49, %302 : tensor<32x64x64x32x4xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %304 = stablehlo.reduce(%303 init: %cst_62) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %305 = stablehlo.reshape %304 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %306 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %307 = stablehlo.multiply %302, %306 : tensor<32x64x64x32x4xf32>
    %308 = stablehlo.multiply %305, %55 : tensor<32x1x1x32x1xf32>
    %309 = stablehlo.negate %307 : tensor<32x64x64x32x4xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %310 = stablehlo.reduce(%309 init: %cst_63) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %311 = stablehlo.reshape %310 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_64 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %312 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %313 = stablehlo.divide %308, %312 : tensor<32x1x1x32x1xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %314 = stablehlo.reduce(%313 init: %cst_65) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %315 = stablehlo.broadcast_in_dim %314, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x64x64x32x4xf32>
    %316 = stablehlo.multiply %315, %43 : tensor<32x64x64x32x4xf32>
    %317 = stablehlo.negate %316 : tensor<32x64x64x32x4xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %318 = stablehlo.reduce(%317 init: %cst_66) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %319 = stablehlo.reshape %318 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %320 = stablehlo.add %307, %316 : tensor<32x64x64x32x4xf32>
    %321 = stablehlo.add %311, %319 : tensor<32x1x1x32x1xf32>
    %cst_67 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %322 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %323 = stablehlo.divide %321, %322 : tensor<32x1x1x32x1xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %324 = stablehlo.reduce(%323 init: %cst_68) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %325 = stablehlo.broadcast_in_dim %324, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x64x64x32x4xf32>
    %326 = stablehlo.add %320, %325 : tensor<32x64x64x32x4xf32>
    %327 = stablehlo.convert %326 : (tensor<32x64x64x32x4xf32>) -> tensor<32x64x64x32x4xbf16>
    %328 = stablehlo.reshape %327 : (tensor<32x64x64x32x4xbf16>) -> tensor<32x64x64x128xbf16>
    %329 = stablehlo.convolution(%30#0, %328) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) -> tensor<3x3x128x128xbf16>
    %330 = stablehlo.reverse %31, dims = [0, 1] : tensor<3x3x128x128xbf16>
    %331 = stablehlo.convolution(%328, %330) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x128xbf16>, tensor<3x3x128x128xbf16>) -> tensor<32x64x64x128xbf16>
    %332 = stablehlo.convert %329 : (tensor<3x3x128x128xbf16>) -> tensor<3x3x128x128xf32>
    %333 = call @silu_1(%30#1, %30#2, %29, %331) : (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xbf16>
    %334 = stablehlo.convert %333 : (tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xf32>
    %335 = stablehlo.reshape %334 : (tensor<32x64x64x128xf32>) -> tensor<32x64x64x32x4xf32>
    %336 = stablehlo.multiply %19, %335 : tensor<32x64x64x32x4xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %337 = stablehlo.reduce(%336 init: %cst_69) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %338 = stablehlo.reshape %337 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %339 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3, 4] : (tensor<32x1x1x32x1xf32>) -> tensor<32x64x64x32x4xf32>
    %340 = stablehlo.multiply %335, %339 : tensor<32x64x64x32x4xf32>
    %341 = stablehlo.multiply %338, %25 : tensor<32x1x1x32x1xf32>
    %342 = stablehlo.negate %340 : tensor<32x64x64x32x4xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %343 = stablehlo.reduce(%342 init: %cst_70) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %344 = stablehlo.reshape %343 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %cst_71 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %345 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %346 = stablehlo.divide %341, %345 : tensor<32x1x1x32x1xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %347 = stablehlo.reduce(%346 init: %cst_72) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %348 = stablehlo.broadcast_in_dim %347, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x64x64x32x4xf32>
    %349 = stablehlo.multiply %348, %13 : tensor<32x64x64x32x4xf32>
    %350 = stablehlo.negate %349 : tensor<32x64x64x32x4xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %351 = stablehlo.reduce(%350 init: %cst_73) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x64x64x32x4xf32>, tensor<f32>) -> tensor<32x32xf32>
    %352 = stablehlo.reshape %351 : (tensor<32x32xf32>) -> tensor<32x1x1x32x1xf32>
    %353 = stablehlo.add %340, %349 : tensor<32x64x64x32x4xf32>
    %354 = stablehlo.add %344, %352 : tensor<32x1x1x32x1xf32>
    %cst_74 = stablehlo.constant dense<1.638400e+04> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<32x1x1x32x1xf32>
    %356 = stablehlo.divide %354, %355 : tensor<32x1x1x32x1xf32>
    %cst_75 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %357 = stablehlo.reduce(%356 init: %cst_75) applies stablehlo.add across dimensions = [1, 2, 4] : (tensor<32x1x1x32x1xf32>, tensor<f32>) -> tensor<32x32xf32>
    %358 = stablehlo.broadcast_in_dim %357, dims = [0, 3] : (tensor<32x32xf32>) -> tensor<32x64x64x32x4xf32>
    %359 = stablehlo.add %353, %358 : tensor<32x64x64x32x4xf32>
    %360 = stablehlo.convert %359 : (tensor<32x64x64x32x4xf32>) -> tensor<32x64x64x32x4xbf16>
    %361 = stablehlo.reshape %360 : (tensor<32x64x64x32x4xbf16>) -> tensor<32x64x64x128xbf16>
    %362 = stablehlo.add %294, %361 : tensor<32x64x64x128xbf16>
    %363 = stablehlo.convolution(%0, %362) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<32x64x64x4xbf16>, tensor<32x64x64x128xbf16>) -> tensor<3x3x4x128xbf16>
    %364 = stablehlo.convert %363 : (tensor<3x3x4x128xbf16>) -> tensor<3x3x4x128xf32>
    %cst_76 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %365 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %366 = stablehlo.multiply %365, %arg9 : tensor<3x3x128x128xf32>
    %cst_77 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %368 = stablehlo.multiply %367, %332 : tensor<3x3x128x128xf32>
    %369 = stablehlo.add %366, %368 : tensor<3x3x128x128xf32>
    %cst_78 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %370 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %371 = stablehlo.multiply %370, %arg10 : tensor<3x3x128x128xf32>
    %cst_79 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %372 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %373 = stablehlo.multiply %372, %299 : tensor<3x3x128x128xf32>
    %374 = stablehlo.add %371, %373 : tensor<3x3x128x128xf32>
    %cst_80 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %375 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %376 = stablehlo.multiply %375, %arg11 : tensor<3x3x128x512xf32>
    %cst_81 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %377 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %378 = stablehlo.multiply %377, %295 : tensor<3x3x128x512xf32>
    %379 = stablehlo.add %376, %378 : tensor<3x3x128x512xf32>
    %cst_82 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %380 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %381 = stablehlo.multiply %380, %arg12 : tensor<3x3x256x128xf32>
    %cst_83 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %382 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %383 = stablehlo.multiply %382, %213 : tensor<3x3x256x128xf32>
    %384 = stablehlo.add %381, %383 : tensor<3x3x256x128xf32>
    %cst_84 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %385 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %386 = stablehlo.multiply %385, %arg13 : tensor<3x3x128x4xf32>
    %cst_85 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %387 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %388 = stablehlo.multiply %387, %180 : tensor<3x3x128x4xf32>
    %389 = stablehlo.add %386, %388 : tensor<3x3x128x4xf32>
    %cst_86 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %390 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %391 = stablehlo.multiply %390, %arg14 : tensor<3x3x512x512xf32>
    %cst_87 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %392 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %393 = stablehlo.multiply %392, %260 : tensor<3x3x512x512xf32>
    %394 = stablehlo.add %391, %393 : tensor<3x3x512x512xf32>
    %cst_88 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %395 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %396 = stablehlo.multiply %395, %arg15 : tensor<3x3x512x512xf32>
    %cst_89 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %398 = stablehlo.multiply %397, %227 : tensor<3x3x512x512xf32>
    %399 = stablehlo.add %396, %398 : tensor<3x3x512x512xf32>
    %cst_90 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %400 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %401 = stablehlo.multiply %400, %arg16 : tensor<3x3x4x128xf32>
    %cst_91 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %402 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %403 = stablehlo.multiply %402, %364 : tensor<3x3x4x128xf32>
    %404 = stablehlo.add %401, %403 : tensor<3x3x4x128xf32>
    %cst_92 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %405 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %406 = stablehlo.multiply %405, %arg17 : tensor<3x3x512x128xf32>
    %cst_93 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %408 = stablehlo.multiply %407, %219 : tensor<3x3x512x128xf32>
    %409 = stablehlo.add %406, %408 : tensor<3x3x512x128xf32>
    %cst_94 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %410 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %411 = stablehlo.multiply %410, %arg18 : tensor<3x3x128x128xf32>
    %cst_95 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %412 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %413 = stablehlo.multiply %412, %332 : tensor<3x3x128x128xf32>
    %414 = stablehlo.multiply %413, %332 : tensor<3x3x128x128xf32>
    %415 = stablehlo.add %411, %414 : tensor<3x3x128x128xf32>
    %cst_96 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %416 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %417 = stablehlo.multiply %416, %arg19 : tensor<3x3x128x128xf32>
    %cst_97 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %418 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %419 = stablehlo.multiply %418, %299 : tensor<3x3x128x128xf32>
    %420 = stablehlo.multiply %419, %299 : tensor<3x3x128x128xf32>
    %421 = stablehlo.add %417, %420 : tensor<3x3x128x128xf32>
    %cst_98 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %423 = stablehlo.multiply %422, %arg20 : tensor<3x3x128x512xf32>
    %cst_99 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %424 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %425 = stablehlo.multiply %424, %295 : tensor<3x3x128x512xf32>
    %426 = stablehlo.multiply %425, %295 : tensor<3x3x128x512xf32>
    %427 = stablehlo.add %423, %426 : tensor<3x3x128x512xf32>
    %cst_100 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %428 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %429 = stablehlo.multiply %428, %arg21 : tensor<3x3x256x128xf32>
    %cst_101 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %430 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %431 = stablehlo.multiply %430, %213 : tensor<3x3x256x128xf32>
    %432 = stablehlo.multiply %431, %213 : tensor<3x3x256x128xf32>
    %433 = stablehlo.add %429, %432 : tensor<3x3x256x128xf32>
    %cst_102 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %434 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %435 = stablehlo.multiply %434, %arg22 : tensor<3x3x128x4xf32>
    %cst_103 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %437 = stablehlo.multiply %436, %180 : tensor<3x3x128x4xf32>
    %438 = stablehlo.multiply %437, %180 : tensor<3x3x128x4xf32>
    %439 = stablehlo.add %435, %438 : tensor<3x3x128x4xf32>
    %cst_104 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %440 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %441 = stablehlo.multiply %440, %arg23 : tensor<3x3x512x512xf32>
    %cst_105 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %442 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %443 = stablehlo.multiply %442, %260 : tensor<3x3x512x512xf32>
    %444 = stablehlo.multiply %443, %260 : tensor<3x3x512x512xf32>
    %445 = stablehlo.add %441, %444 : tensor<3x3x512x512xf32>
    %cst_106 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %446 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %447 = stablehlo.multiply %446, %arg24 : tensor<3x3x512x512xf32>
    %cst_107 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %448 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %449 = stablehlo.multiply %448, %227 : tensor<3x3x512x512xf32>
    %450 = stablehlo.multiply %449, %227 : tensor<3x3x512x512xf32>
    %451 = stablehlo.add %447, %450 : tensor<3x3x512x512xf32>
    %cst_108 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %452 = stablehlo.broadcast_in_dim %cst_108, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %453 = stablehlo.multiply %452, %arg25 : tensor<3x3x4x128xf32>
    %cst_109 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %454 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %455 = stablehlo.multiply %454, %364 : tensor<3x3x4x128xf32>
    %456 = stablehlo.multiply %455, %364 : tensor<3x3x4x128xf32>
    %457 = stablehlo.add %453, %456 : tensor<3x3x4x128xf32>
    %cst_110 = stablehlo.constant dense<0.949999988> : tensor<f32>
    %458 = stablehlo.broadcast_in_dim %cst_110, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %459 = stablehlo.multiply %458, %arg26 : tensor<3x3x512x128xf32>
    %cst_111 = stablehlo.constant dense<5.000000e-02> : tensor<f32>
    %460 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %461 = stablehlo.multiply %460, %219 : tensor<3x3x512x128xf32>
    %462 = stablehlo.multiply %461, %219 : tensor<3x3x512x128xf32>
    %463 = stablehlo.add %459, %462 : tensor<3x3x512x128xf32>
    %464 = stablehlo.sqrt %415 : tensor<3x3x128x128xf32>
    %cst_112 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %465 = stablehlo.broadcast_in_dim %cst_112, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %466 = stablehlo.add %464, %465 : tensor<3x3x128x128xf32>
    %467 = stablehlo.divide %369, %466 : tensor<3x3x128x128xf32>
    %cst_113 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %468 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %469 = stablehlo.multiply %468, %arg0 : tensor<3x3x128x128xf32>
    %470 = stablehlo.add %467, %469 : tensor<3x3x128x128xf32>
    %cst_114 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %471 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %472 = stablehlo.multiply %471, %470 : tensor<3x3x128x128xf32>
    %473 = stablehlo.subtract %arg0, %472 : tensor<3x3x128x128xf32>
    %474 = stablehlo.sqrt %421 : tensor<3x3x128x128xf32>
    %cst_115 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %475 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %476 = stablehlo.add %474, %475 : tensor<3x3x128x128xf32>
    %477 = stablehlo.divide %374, %476 : tensor<3x3x128x128xf32>
    %cst_116 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %478 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %479 = stablehlo.multiply %478, %arg1 : tensor<3x3x128x128xf32>
    %480 = stablehlo.add %477, %479 : tensor<3x3x128x128xf32>
    %cst_117 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %481 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<3x3x128x128xf32>
    %482 = stablehlo.multiply %481, %480 : tensor<3x3x128x128xf32>
    %483 = stablehlo.subtract %arg1, %482 : tensor<3x3x128x128xf32>
    %484 = stablehlo.sqrt %427 : tensor<3x3x128x512xf32>
    %cst_118 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %485 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %486 = stablehlo.add %484, %485 : tensor<3x3x128x512xf32>
    %487 = stablehlo.divide %379, %486 : tensor<3x3x128x512xf32>
    %cst_119 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %488 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %489 = stablehlo.multiply %488, %arg2 : tensor<3x3x128x512xf32>
    %490 = stablehlo.add %487, %489 : tensor<3x3x128x512xf32>
    %cst_120 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %491 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<3x3x128x512xf32>
    %492 = stablehlo.multiply %491, %490 : tensor<3x3x128x512xf32>
    %493 = stablehlo.subtract %arg2, %492 : tensor<3x3x128x512xf32>
    %494 = stablehlo.sqrt %433 : tensor<3x3x256x128xf32>
    %cst_121 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %495 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %496 = stablehlo.add %494, %495 : tensor<3x3x256x128xf32>
    %497 = stablehlo.divide %384, %496 : tensor<3x3x256x128xf32>
    %cst_122 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %498 = stablehlo.broadcast_in_dim %cst_122, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %499 = stablehlo.multiply %498, %arg3 : tensor<3x3x256x128xf32>
    %500 = stablehlo.add %497, %499 : tensor<3x3x256x128xf32>
    %cst_123 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %501 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<3x3x256x128xf32>
    %502 = stablehlo.multiply %501, %500 : tensor<3x3x256x128xf32>
    %503 = stablehlo.subtract %arg3, %502 : tensor<3x3x256x128xf32>
    %504 = stablehlo.sqrt %439 : tensor<3x3x128x4xf32>
    %cst_124 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %505 = stablehlo.broadcast_in_dim %cst_124, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %506 = stablehlo.add %504, %505 : tensor<3x3x128x4xf32>
    %507 = stablehlo.divide %389, %506 : tensor<3x3x128x4xf32>
    %cst_125 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %508 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %509 = stablehlo.multiply %508, %arg4 : tensor<3x3x128x4xf32>
    %510 = stablehlo.add %507, %509 : tensor<3x3x128x4xf32>
    %cst_126 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %511 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<3x3x128x4xf32>
    %512 = stablehlo.multiply %511, %510 : tensor<3x3x128x4xf32>
    %513 = stablehlo.subtract %arg4, %512 : tensor<3x3x128x4xf32>
    %514 = stablehlo.sqrt %445 : tensor<3x3x512x512xf32>
    %cst_127 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %515 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %516 = stablehlo.add %514, %515 : tensor<3x3x512x512xf32>
    %517 = stablehlo.divide %394, %516 : tensor<3x3x512x512xf32>
    %cst_128 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %518 = stablehlo.broadcast_in_dim %cst_128, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %519 = stablehlo.multiply %518, %arg5 : tensor<3x3x512x512xf32>
    %520 = stablehlo.add %517, %519 : tensor<3x3x512x512xf32>
    %cst_129 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %521 = stablehlo.broadcast_in_dim %cst_129, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %522 = stablehlo.multiply %521, %520 : tensor<3x3x512x512xf32>
    %523 = stablehlo.subtract %arg5, %522 : tensor<3x3x512x512xf32>
    %524 = stablehlo.sqrt %451 : tensor<3x3x512x512xf32>
    %cst_130 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %525 = stablehlo.broadcast_in_dim %cst_130, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %526 = stablehlo.add %524, %525 : tensor<3x3x512x512xf32>
    %527 = stablehlo.divide %399, %526 : tensor<3x3x512x512xf32>
    %cst_131 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %528 = stablehlo.broadcast_in_dim %cst_131, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %529 = stablehlo.multiply %528, %arg6 : tensor<3x3x512x512xf32>
    %530 = stablehlo.add %527, %529 : tensor<3x3x512x512xf32>
    %cst_132 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %531 = stablehlo.broadcast_in_dim %cst_132, dims = [] : (tensor<f32>) -> tensor<3x3x512x512xf32>
    %532 = stablehlo.multiply %531, %530 : tensor<3x3x512x512xf32>
    %533 = stablehlo.subtract %arg6, %532 : tensor<3x3x512x512xf32>
    %534 = stablehlo.sqrt %457 : tensor<3x3x4x128xf32>
    %cst_133 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %535 = stablehlo.broadcast_in_dim %cst_133, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %536 = stablehlo.add %534, %535 : tensor<3x3x4x128xf32>
    %537 = stablehlo.divide %404, %536 : tensor<3x3x4x128xf32>
    %cst_134 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %538 = stablehlo.broadcast_in_dim %cst_134, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %539 = stablehlo.multiply %538, %arg7 : tensor<3x3x4x128xf32>
    %540 = stablehlo.add %537, %539 : tensor<3x3x4x128xf32>
    %cst_135 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %541 = stablehlo.broadcast_in_dim %cst_135, dims = [] : (tensor<f32>) -> tensor<3x3x4x128xf32>
    %542 = stablehlo.multiply %541, %540 : tensor<3x3x4x128xf32>
    %543 = stablehlo.subtract %arg7, %542 : tensor<3x3x4x128xf32>
    %544 = stablehlo.sqrt %463 : tensor<3x3x512x128xf32>
    %cst_136 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %545 = stablehlo.broadcast_in_dim %cst_136, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %546 = stablehlo.add %544, %545 : tensor<3x3x512x128xf32>
    %547 = stablehlo.divide %409, %546 : tensor<3x3x512x128xf32>
    %cst_137 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %548 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %549 = stablehlo.multiply %548, %arg8 : tensor<3x3x512x128xf32>
    %550 = stablehlo.add %547, %549 : tensor<3x3x512x128xf32>
    %cst_138 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %551 = stablehlo.broadcast_in_dim %cst_138, dims = [] : (tensor<f32>) -> tensor<3x3x512x128xf32>
    %552 = stablehlo.multiply %551, %550 : tensor<3x3x512x128xf32>
    %553 = stablehlo.subtract %arg8, %552 : tensor<3x3x512x128xf32>
    return %473, %483, %493, %503, %513, %523, %533, %543, %553, %369, %374, %379, %384, %389, %394, %399, %404, %409, %415, %421, %427, %433, %439, %445, %451, %457, %463, %172 : tensor<3x3x128x128xf32>, tensor<3x3x128x128xf32>, tensor<3x3x128x512xf32>, tensor<3x3x256x128xf32>, tensor<3x3x128x4xf32>, tensor<3x3x512x512xf32>, tensor<3x3x512x512xf32>, tensor<3x3x4x128xf32>, tensor<3x3x512x128xf32>, tensor<3x3x128x128xf32>, tensor<3x3x128x128xf32>, tensor<3x3x128x512xf32>, tensor<3x3x256x128xf32>, tensor<3x3x128x4xf32>, tensor<3x3x512x512xf32>, tensor<3x3x512x512xf32>, tensor<3x3x4x128xf32>, tensor<3x3x512x128xf32>, tensor<3x3x128x128xf32>, tensor<3x3x128x128xf32>, tensor<3x3x128x512xf32>, tensor<3x3x256x128xf32>, tensor<3x3x128x4xf32>, tensor<3x3x512x512xf32>, tensor<3x3x512x512xf32>, tensor<3x3x4x128xf32>, tensor<3x3x512x128xf32>, tensor<f32>
  }
  func.func private @silu(%arg0: tensor<32x64x64x128xbf16>) -> (tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>) {
    %0 = stablehlo.negate %arg0 : tensor<32x64x64x128xbf16>
    %1 = stablehlo.exponential %0 : tensor<32x64x64x128xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x64x64x128xbf16>
    %3 = stablehlo.add %2, %1 : tensor<32x64x64x128xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<32x64x64x128xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<32x64x64x128xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<32x64x64x128xbf16>
    %7 = stablehlo.subtract %6, %5 : tensor<32x64x64x128xbf16>
    %8 = stablehlo.multiply %5, %7 : tensor<32x64x64x128xbf16>
    %9 = stablehlo.multiply %arg0, %5 : tensor<32x64x64x128xbf16>
    return %9, %8, %5 : tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>, tensor<32x64x64x128xbf16>
  }
  func.func private @silu_0(%arg0: tensor<32x32x32x512xbf16>) -> (tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>) {
    %0 = stablehlo.negate %arg0 : tensor<32x32x32x512xbf16>
    %1 = stablehlo.exponential %0 : tensor<32x32x32x512xbf16>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<32x32x32x512xbf16>
    %3 = stablehlo.add %2, %1 : tensor<32x32x32x512xbf16>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<32x32x32x512xbf16>
    %5 = stablehlo.divide %4, %3 : tensor<32x32x32x512xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<32x32x32x512xbf16>
    %7 = stablehlo.subtract %6, %5 : tensor<32x32x32x512xbf16>
    %8 = stablehlo.multiply %5, %7 : tensor<32x32x32x512xbf16>
    %9 = stablehlo.multiply %arg0, %5 : tensor<32x32x32x512xbf16>
    return %9, %8, %5 : tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>, tensor<32x32x32x512xbf16>
  }
  func.func private @silu_1(%arg0: tensor<32x64x64x128xbf16>, %arg1: tensor<32x64x64x128xbf16>, %arg2: tensor<32x64x64x128xbf16>, %arg3: tensor<32x64x64x128xbf16>) -> tensor<32x64x64x128xbf16> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<32x64x64x128xbf16>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<32x64x64x128xbf16>
    %2 = stablehlo.multiply %0, %arg0 : tensor<32x64x64x128xbf16>
    %3 = stablehlo.add %1, %2 : tensor<32x64x64x128xbf16>
    return %3 : tensor<32x64x64x128xbf16>
  }
  func.func private @silu_2(%arg0: tensor<32x32x32x512xbf16>, %arg1: tensor<32x32x32x512xbf16>, %arg2: tensor<32x32x32x512xbf16>, %arg3: tensor<32x32x32x512xbf16>) -> tensor<32x32x32x512xbf16> {
    %0 = stablehlo.multiply %arg2, %arg3 : tensor<32x32x32x512xbf16>
    %1 = stablehlo.multiply %arg3, %arg1 : tensor<32x32x32x512xbf16>
    %2 = stablehlo.multiply %0, %arg0 : tensor<32x32x32x512xbf16>
    %3 = stablehlo.add %1, %2 : tensor<32x32x32x512xbf16>
    return %3 : tensor<32x32x32x512xbf16>
  }
}
